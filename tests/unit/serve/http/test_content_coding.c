/* serve_operations compares what is encoded with what is not. */
#include "serve/http/content_coding.h"
#include "support.h"

TEST(the_client_chooses)
{
    static const struct {
        const char *header;
        content_coding coding;
    } cases[] = {{NULL, CODING_IDENTITY},
                 {"", CODING_IDENTITY},
                 {"identity", CODING_IDENTITY},
                 {"br, deflate", CODING_IDENTITY},
                 {"gzip", CODING_GZIP},
                 {"x-gzip", CODING_GZIP},
                 {"GZip", CODING_GZIP},
                 {"gzipped", CODING_IDENTITY},
                 {"zstd", CODING_ZSTD},
                 {"gzip, zstd", CODING_ZSTD},
                 {"zstd;q=0.5 , gzip;q=0.8", CODING_GZIP},
                 {"gzip;q=0", CODING_IDENTITY},
                 {"gzip; q=0.000, zstd ;Q=0.001", CODING_ZSTD},
                 {"*", CODING_ZSTD},
                 {"*;q=0.1, gzip;q=0.2", CODING_GZIP},
                 {"zstd;q=0, *", CODING_GZIP},
                 {"*;q=0", CODING_IDENTITY},
                 {"gzip;q=2", CODING_IDENTITY},
                 {"gzip;q=x", CODING_IDENTITY},
                 {",,gzip,", CODING_GZIP},
                 {"gzip;level=1;q=0.5", CODING_GZIP},
                 {";;", CODING_IDENTITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (content_coding_choose(cases[i].header) != cases[i].coding) fail_msg("'%s'", cases[i].header);
}
