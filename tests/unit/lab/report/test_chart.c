#include "lab/report/chart.h"

#include "support_files.h"

static void assert_ticks(const chart_axis *axis, size_t count, const char *const *labels)
{
    assert_int_equal(axis->count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(axis->ticks[i].label, labels[i]);
}

TEST(linear_ticks_are_round_numbers)
{
    chart_axis rounds = chart_linear("round", 0.0, 3000.0), both = chart_linear("", -1.0, 1.0),
               small = chart_linear("", 0.0131, 0.0172), large = chart_linear("", 0.0, 2.5e6);
    assert_ticks(&rounds, 7, (const char *const[]){"0", "500", "1000", "1500", "2000", "2500", "3000"});
    assert_ticks(&both, 5, (const char *const[]){"−1.0", "−0.5", "0.0", "0.5", "1.0"});
    assert_ticks(&small, 4, (const char *const[]){"0.014", "0.015", "0.016", "0.017"});
    assert_ticks(&large, 6, (const char *const[]){"0", "500000", "1000000", "1500000", "2000000", "2500000"});
    assert_true(both.ticks[1].at == -0.5);
}

TEST(logarithmic_ticks_are_few_enough)
{
    chart_axis narrow = chart_logarithmic("", 8.0, 600.0), middle = chart_logarithmic("", 1.0, 3000.0),
               wide = chart_logarithmic("", 0.001, 1e6), widest = chart_logarithmic("", 1.0, 1e18);
    assert_ticks(&narrow, 6, (const char *const[]){"10", "20", "50", "100", "200", "500"});
    assert_ticks(&middle, 8, (const char *const[]){"1", "3", "10", "30", "100", "300", "1000", "3000"});
    assert_string_equal(wide.ticks[0].label, "0.001");
    assert_string_equal(wide.ticks[wide.count - 1].label, "1000000");
    assert_int_equal(wide.count, 10);
    assert_in_range(widest.count, 4, 10);
}

static text page;

static int start(void **state)
{
    (void)state;
    page = text_start(NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    memory_free(page.bytes);
    return page.status;
}

static void assert_has(const char *words)
{
    if (!strstr(page.bytes, words)) print_error("no %s in:\n%s\n", words, page.bytes);
    assert_non_null(strstr(page.bytes, words));
}

static void assert_lacks(const char *words)
{
    assert_null(strstr(page.bytes, words));
}

/* A frame of 3000 by 1500 units whose left lower corner is 0, 0. */
static chart_frame frame_to(double right, double top)
{
    return (chart_frame){
        .title = "a frame", .x = chart_linear("round", 0.0, right), .y = chart_linear("regret", 0.0, top)};
}

static void draw(const chart_frame *frame, const chart_line *lines, size_t count)
{
    chart of = {.name = "figure", .frames = {*frame}, .count = 1};
    of.frames[0].lines = lines;
    of.frames[0].count = count;
    chart_page(&page, &of);
}

TEST_WITH(a_line_goes_from_point_to_point, start, end)
{
    const chart_point points[] = {{0, 0, NAN, NAN}, {10, 5, NAN, NAN}, {20, 15, NAN, NAN}, {30, 15, NAN, NAN}};
    chart_line line = {.part = "main", .style = 3, .name = "a", .points = points, .count = 4};
    chart_frame frame = frame_to(30.0, 15.0);
    draw(&frame, &line, 1);
    assert_has("style=\"--c:var(--line-3)\" data-line=\"main-3\" d=\"m0 1500 1000-500 1000-1000 1000 0\"/>");
    assert_has("data-x=\"0 30\" data-y=\"0 15\"");
    assert_lacks("class=\"band");
}

TEST_WITH(a_gap_is_left_open, start, end)
{
    const chart_point points[] = {{0, 0, NAN, NAN}, {10, NAN, NAN, NAN}, {20, 15, NAN, NAN}, {30, 0, NAN, NAN}};
    chart_line line = {.part = "main", .style = 1, .name = "a", .points = points, .count = 4};
    chart_frame frame = frame_to(30.0, 15.0);
    draw(&frame, &line, 1);
    assert_has(" d=\"m0 1500m2000-1500 1000 1500\"/>");
}

TEST_WITH(a_band_goes_there_and_back, start, end)
{
    const chart_point points[] = {{0, 5, 0, 10}, {30, 5, 0, 15}};
    chart_line line = {.part = "main", .style = 1, .name = "a", .points = points, .count = 2};
    chart_frame frame = frame_to(30.0, 15.0);
    draw(&frame, &line, 1);
    assert_has(
        "class=\"band\" style=\"--c:var(--line-1)\" data-line=\"main-1\" d=\"m0 500 3000-500 0 1500-3000 0z\"/>");
}

TEST_WITH(logarithms_are_drawn_as_such, start, end)
{
    const chart_point points[] = {{1, 0, NAN, NAN}, {10, 1, NAN, NAN}, {100, 10, NAN, NAN}, {1000, 1000, NAN, NAN}};
    chart_line line = {.part = "main", .style = 1, .name = "a", .points = points, .count = 4};
    chart_frame frame = {.title = "a frame",
                         .x = chart_logarithmic("round", 1.0, 1000.0),
                         .y = chart_logarithmic("regret", 1.0, 1000.0)};
    draw(&frame, &line, 1);
    assert_has(" d=\"m0 3000 1000-1500 1000-500 1000-1000\"/>"); /* zero is below all */
}

TEST_WITH(differences_are_drawn_without_bands, start, end)
{
    const chart_point of[] = {{0, 5, 0, 10}, {30, 20, 0, 30}}, from[] = {{0, 5, 0, 10}, {30, 5, 0, 10}};
    const chart_line lines[] = {{.part = "main", .style = 1, .name = "a", .points = of, .count = 2},
                                {.part = "main", .name = "b", .is_broad = true, .points = from, .count = 2}};
    chart_frame frame = frame_to(30.0, 15.0);
    frame.less = &lines[1];
    draw(&frame, lines, 2);
    assert_has("data-less=\"main-0\"");
    assert_has("data-line=\"main-1\" d=\"m0 1500 3000-1500\"/>");
    assert_has("data-line=\"main-0\" d=\"m0 1500 3000 0\"/>");
    assert_lacks("class=\"band");
    assert_true(strstr(page.bytes, "main-0\" d=") < strstr(page.bytes, "main-1\" d=")); /* the broad one lies below */
}

TEST_WITH(what_is_far_outside_can_be_drawn, start, end)
{
    const chart_point points[] = {{0, 1e300, NAN, NAN}, {30, -1e300, NAN, NAN}};
    chart_line line = {.part = "main", .style = 1, .name = "a", .points = points, .count = 2};
    chart_frame frame = frame_to(30.0, 1e-6);
    draw(&frame, &line, 1);
    assert_has(" d=\"m0-1498500 3000 3000000\"/>");
}

TEST_WITH(a_legend_has_some_numbers_and_the_last, start, end)
{
    chart_point points[1001];
    for (size_t i = 0; i < 1001; i++) points[i] = (chart_point){(double)(i + 1), 0.5 * (double)i, NAN, NAN};
    chart_line line = {.part = "label", .style = 9, .name = "<a & b>", .points = points, .count = 1001};
    chart_frame frame = frame_to(1001.0, 500.0);
    draw(&frame, &line, 1);
    assert_has("<li data-line=\"label-9\" data-x=\"5 11 17 ");
    assert_has(" 995 1001\" data-y=\"2 5 8 ");
    assert_has(" 497 500\">");
    assert_has("class=\"line dashed\" style=\"--c:var(--line-2)\"");
    assert_has("<span>&lt;a &amp; b&gt;</span>");
}

TEST_WITH(bars_tell_themselves, start, end)
{
    const chart_point points[] = {{1, 50, NAN, NAN}, {2, 0, NAN, NAN}, {3, NAN, NAN, NAN}};
    const chart_line lines[] = {{.part = "candidate", .style = 0, .name = "a", .points = points, .count = 3},
                                {.part = "candidate", .style = 8, .name = "b", .points = points, .count = 1}};
    chart_frame frame = frame_to(3.0, 100.0);
    frame.bars = "%";
    draw(&frame, lines, 2); /* side by side, 0.42 wide each */
    assert_has("\"/>\n<path class=\"bar\" style=\"--c:var(--line-0)\" data-line=\"candidate-0\" "
               "d=\"M580 1500V750H1000V1500z\"><title>a: 50.0%</title></path>\n"
               "<path class=\"bar dashed\" style=\"--c:var(--line-1)\" data-line=\"candidate-8\" "
               "d=\"M1000 1500V750H1420V1500z\"><title>b: 50.0%</title></path>\n</svg>");
    assert_has("<li data-line=\"candidate-0\"><svg");
}

TEST_WITH(many_ticks_are_halved_where_it_is_narrow, start, end)
{
    chart_frame frame = frame_to(30.0, 15.0);
    draw(&frame, NULL, 0);
    assert_lacks("minor");
    frame.x = chart_linear("round", 0.0, 6e5);
    draw(&frame, NULL, 0);
    assert_has("<span class=\"tick x\" style=\"left:0.00%\">0</span><span class=\"tick x minor\" "
               "style=\"left:16.67%\">100000</span><span class=\"tick x\" style=\"left:33.33%\">200000</span>");
}

/* Reads the file into page. */
static void read_page(const test_folder *folder, const char *name)
{
    auto_memory uint8_t *bytes;
    size_t size;
    memory_free(page.bytes);
    page = text_start(NULL);
    ok(file_read(folder_path(folder, name), &bytes, &size, NULL));
    text_bytes(&page, (const char *)bytes, size);
}

TEST_WITH(a_file_has_the_paths_of_the_page, start, end)
{
    const chart_point of[] = {{0, 5, 0, 10}, {30, 20, NAN, NAN}}, from[] = {{0, 5, NAN, NAN}, {30, 5, NAN, NAN}};
    const chart_line lines[] = {{.style = 8, .name = "<a>", .points = of, .count = 2},
                                {.name = "b", .is_broad = true, .points = from, .count = 2}};
    chart drawn = {.name = "figure", .frames = {frame_to(30.0, 20.0), frame_to(30.0, 20.0)}, .count = 2};
    for (size_t i = 0; i < 2; i++) {
        drawn.frames[i].lines = lines;
        drawn.frames[i].count = 2;
    }
    drawn.frames[1].view = CHART_LOG; /* a switch, which a file does not have */
    test_folder folder = folder_make();
    ok(chart_save(&drawn, folder.path, NULL));
    read_page(&folder, "figure.svg");
    assert_has("stroke=\"#0072b2\" stroke-width=\"8\" stroke-linejoin=\"round\" stroke-dasharray=\"30 20\" "
               "d=\"m0 1125 3000-1125\"/>");
    assert_has("stroke=\"#d55e00\" stroke-width=\"20\" stroke-linejoin=\"round\" d=\"m0 1125 3000 0\"/>");
    assert_has(">&lt;a&gt;</text>");
    assert_has(" text-anchor=\"middle\">30</text>");
    char *first = strstr(page.bytes, "<g clip-path");
    assert_non_null(first);
    assert_null(strstr(first + 1, "<g clip-path")); /* one frame */
    read_page(&folder, "figure.dat");
    assert_string_equal(page.bytes, "# <a>: round, regret, low, high\n0 5 0 10\n30 20 nan nan\n\n\n"
                                    "# b: round, regret, low, high\n0 5 nan nan\n30 5 nan nan\n");
    folder_remove(&folder);
}

TEST_IN_FOLDER(a_folder_that_cannot_be_made_is_reported)
{
    folder_write_text(&here, "figures", "");
    chart drawn = {.name = "figure", .frames = {frame_to(1.0, 1.0)}, .count = 1};
    assert_int_equal(chart_save(&drawn, folder_path(&here, "figures"), NULL), EE_FILE_ERROR);
}
