# Which tests run when. A test that no list names runs in make test, in .ci/run, there also under the address and
# undefined-behaviour sanitizers, and in make test-all.

# .ci/run and make test-all: what needs PostgreSQL, a browser, MPI or npm, and the longer tests, among them the commands of
# the documentation. The names are regular expressions.
set(EENET_CI
    ".*postgres.*" "fleet_.*" "examples" "page_.*" "studies" "cli_(csv_logs|paper|plan|shard)"
    "serve_(clock|damage|erase|fairness|guardrails|learning|limits|openapi|prometheus|quality)" "node_.*" "npm_packages"
    "wasm_build" "site" "sbom" "releases" "release_files" "debian" "ranks_.*")
# make test-all alone: minutes long, or statistical, or what a kill must hit at a moment that a slow machine may miss.
set(EENET_NIGHT
    "guard" "node_shop" "ranks_(killed|refused|stopped)" "node_page_.*" "misleading_logs" "serve_guardrails_postgres"
    "examples_fleet" "library_alone" "slurm_.*")
# Not under the sanitizers: they only take long there, and call nothing that others do not.
set(EENET_PLAIN
    "examples" "studies" "study" "page_.*" "document_commands" "test_(solving|.*_study)"
    "cli_(bench|complete|csv_logs|evaluate|grid|interrupt|lists|merge|plan|progress|resume|rounds|run|shard)")
# The quick ones of the other architecture.
set(EENET_SHORT "fuzz_.*" "test_(archive|cholesky|decimal|kernels|learner|network|stored_models|triangle|vector)" "cli_.*")
# Unit tests of unit_serve that also run on PostgreSQL: where the two stores can differ.
set(EENET_UNIT_ON_POSTGRES audit_log blobs joining log_export pg_store store
    store_copy thread_journal thread_pool_pg thread_spool thread_store)
# ctest starts them first.
set(EENET_LONGEST
    guard fleet_torture fleet_behaviour library_alone node_live python_asan serve_api serve_torture slurm_arrays
    test_thread_evaluation_jobs)

# eenet_tier(NAME OUT): sets OUT to the labels of the test.
function(eenet_tier name out)
    set(labels)
    foreach(label IN ITEMS CI NIGHT PLAIN SHORT)
        foreach(pattern IN LISTS EENET_${label})
            if(name MATCHES "^(${pattern})$")
                string(TOLOWER ${label} label)
                list(APPEND labels ${label})
                break()
            endif()
        endforeach()
    endforeach()
    set(${out} "${labels}" PARENT_SCOPE)
endfunction()
