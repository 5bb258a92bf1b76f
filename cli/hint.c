#include "hint.h"

#include "base/memory.h"
#include "data/values/text.h"

void hint_path(FILE *stream, const char *path)
{
    text word = text_start(NULL);
    text_shell(&word, path);
    if (!word.status) fprintf(stream, "%s %s", path[0] == '-' ? " --" : "", word.bytes);
    memory_free(word.bytes);
}

void hint_report(const char *what, const char *folder)
{
    printf("\nThe %s are in %s. For an HTML report: eenet report", what, folder);
    hint_path(stdout, folder);
    printf("\n");
}
