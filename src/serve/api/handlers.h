/* All handlers of requests, for the tables of routes. */
#ifndef EENET_HANDLERS_H
#define EENET_HANDLERS_H

#include "serve/http/router.h"

call_handler api_live, api_ready, api_openapi, api_metrics, api_clock, api_accept_clock, api_audit, api_fleet;
call_handler api_list, api_create, api_describe, api_change, api_delete, api_restore, api_erase;
call_handler api_decide, api_decide_batch, api_reward, api_reward_batch, api_activate;
call_handler api_activity;
call_handler api_page, api_page_file, api_page_visitor, api_page_choices;
call_handler api_get_model, api_put_model, api_reset_model, api_model_versions, api_log;
call_handler api_evaluation, api_list_challengers, api_add_challenger, api_remove_challenger, api_promote;
call_handler api_explain, api_explain_decision, api_importance;
call_handler api_list_evaluations, api_ask_evaluation, api_read_evaluation, api_delete_evaluation;

/* Personalizer's API */
call_handler api_get_configuration, api_put_configuration, api_get_policy, api_put_policy, api_reset_policy;
call_handler api_model_properties, api_log_properties, api_forget_log, api_no_flatbuffers;
call_handler api_status, api_container_ready;
call_handler personalizer_list_evaluations, personalizer_post_evaluation, personalizer_put_evaluation,
    personalizer_get_evaluation, personalizer_delete_evaluation, personalizer_apply_evaluation;
call_handler api_list_importances, api_put_importance, api_get_importance, api_delete_importance;

#endif
