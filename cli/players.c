#include "players.h"

run_crew players_of(const run_request *request, players *own)
{
    own->ranks = (rank_crew){request->threads, request->cache};
    return ranks_count() > 1 ? crew_of_ranks(&own->ranks) : crew_of_threads(request->threads);
}
