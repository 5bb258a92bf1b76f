#include "drawing.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "gnuplot.h"

/* ---- looks ---- */

/* Okabe and Ito's without the yellow, which is too pale on white, and with a grey. The first is the reference's own. On
 * a dark page they are lighter, and the black is white. */
static const struct {
    const char *light, *dark;
} colours[] = {{"#d55e00", "#f5853a"}, {"#0072b2", "#4a9be8"}, {"#009e73", "#2fc197"}, {"#cc79a7", "#e79cc6"},
               {"#e69f00", "#f2be4a"}, {"#56b4e9", "#9bdcff"}, {"#000000", "#f4f4f4"}, {"#888888", "#939dab"}};

enum { COLOURS = sizeof colours / sizeof colours[0] };

size_t drawing_turn(size_t style)
{
    return style ? (style - 1) / (COLOURS - 1) : 0;
}

size_t drawing_colour_number(size_t style)
{
    return style ? 1 + (style - 1) % (COLOURS - 1) : 0;
}

const char *drawing_colour(size_t style)
{
    return colours[drawing_colour_number(style)].light;
}

void drawing_colours(text *sheet, bool dark)
{
    for (size_t i = 0; i < COLOURS; i++)
        text_add(sheet, "--line-%zu:%s;", i, dark ? colours[i].dark : colours[i].light);
}

/* Where the colours come round again, the dashes and the marks differ. The reference is broad and lies below the
 * others: where lines run together, both are seen. */
void drawing_line_style(text *script, size_t style)
{
    static const char *const dashes[] = {"solid", "'-'", "'.'", "'-.'"};
    static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 1, 2, 3};
    text_add(script, "lc rgb '%s' dt %s pt %d lw %s", drawing_colour(style), dashes[drawing_turn(style) % 4],
             marks[style % (sizeof marks / sizeof marks[0])], style ? "1.6" : "4");
}

void drawing_quoted(text *script, const char *words)
{
    text_add(script, "'");
    for (; *words; words++) {
        if (*words == '\'') text_add(script, "'");
        text_bytes(script, (unsigned char)*words < ' ' ? " " : words, 1);
    }
    text_add(script, "'");
}

void drawing_head(text *script, const char *name)
{
    text_add(script,
             "# Drawn by eenet report. Edit it and run `gnuplot %s.gp` in this folder.\n"
             "set encoding utf8\n"
             "set format '%%.10g'\n"
             "set datafile missing 'NaN'\n"
             "set border 3 lc rgb '#555555'\n"
             "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
             "set grid ytics lt 1 lw 0.6 lc rgb '#e3e3e3'\n"
             "set key outside right top Left reverse samplen 3 spacing 1.25 textcolor rgb '#222222'\n"
             "set style fill transparent solid 0.11 noborder\n",
             name);
}

void drawing_begin(text *script, const char *name, int height)
{
    text_add(
        script,
        "do for [kind in 'svg pdf'] {\n"
        "if (kind eq 'svg') { set terminal svg size 880,%d noenhanced font 'sans-serif,13' background '#ffffff' }\n"
        "else { set terminal pdfcairo size 7.4in,%.2fin noenhanced font 'sans-serif,10' }\n"
        "set output '%s.'.kind\n",
        height, (double)height * 7.4 / 880.0, name);
}

void drawing_end(text *script)
{
    text_add(script, "\nunset output\n}\n");
}

/* The file NAME and its ending in the folder figures/ of folder. */
static ee_status file_path(const char *folder, const char *name, const char *ending, char **out, ee_error *error)
{
    text path = text_start(error);
    text_add(&path, "%s/figures/%s%s", folder, name, ending);
    *out = path.bytes;
    return path.status;
}

static ee_status save_file(text *from, const char *folder, const char *name, const char *ending, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_path(folder, name, ending, &path, error);
    if (!status) status = text_save(from, path);
    memory_free(path);
    return status;
}

static ee_status run_script(const char *figures, const char *folder, const char *name, ee_error *error)
{
    char *log = NULL;
    text script = text_start(error), log_name = text_start(error);
    text_add(&script, "%s.gp", name);
    text_add(&log_name, "%s.log", name);
    ee_status status = script.status ? script.status : log_name.status;
    if (!status) status = file_path(folder, name, ".log", &log, error);
    if (!status) status = gnuplot_run(figures, script.bytes, log_name.bytes, log, error);
    memory_free(script.bytes);
    memory_free(log_name.bytes);
    memory_free(log);
    return status;
}

/* A browser shows titles under the pointer, and gnuplot's name none of its lines. */
static ee_status drop_titles(const char *folder, const char *name, ee_error *error)
{
    static const char begin[] = "<title>", end[] = "</title>";
    char *path = NULL;
    uint8_t *bytes = NULL;
    size_t size;
    text kept = text_start(error);
    ee_status status = file_path(folder, name, ".svg", &path, error);
    if (!status && file_is_missing(path)) goto done; /* whatever plays gnuplot may draw no SVG */
    if (!status) status = file_read(path, &bytes, &size, error);
    const char *from = (const char *)bytes, *title = NULL;
    while (!status && (title = strstr(from, begin))) {
        const char *after = strstr(title, end);
        if (!after) break;
        text_bytes(&kept, from, (size_t)(title - from));
        from = after + strlen(end);
    }
    if (!status) text_bytes(&kept, from, strlen(from));
    if (!status) status = text_save(&kept, path);
done:
    memory_free(bytes);
    memory_free(path);
    return status;
}

ee_status drawing_save(const char *folder, const char *name, text *script, text *data)
{
    ee_error *error = script->error;
    char *figures = NULL;
    ee_status status = file_join(folder, "figures", &figures, error);
    if (!status) status = file_make_folder(figures, error);
    if (!status) status = save_file(script, folder, name, ".gp", error);
    if (!status) status = save_file(data, folder, name, ".dat", error);
    if (!status) status = run_script(figures, folder, name, error);
    if (!status) status = drop_titles(folder, name, error);
    memory_free(script->bytes);
    memory_free(data->bytes);
    memory_free(figures);
    return status;
}
