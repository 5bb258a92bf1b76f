/* The operations and bytes that a policy needs, with these options and a first layer of width m: what its formulas ask
 * for, of all networks and regressions, each weight read once a call and every unit on. */
#ifndef EENET_POLICY_WORK_H
#define EENET_POLICY_WORK_H

#include "machine.h"
#include "problem.h"

/* The options that a policy is measured with on the problem, "" for none: EE-Net is told of MNIST's ten blocks, as the
 * laboratory does; the authors' f2 sees the gradient pooled as its preset has it, and by 8192 where f1 is larger than
 * MNIST's. */
const char *policy_work_options(const char *policy, const problem_shape *shape);

/* Of a decision among the arms. All zero where it is not known. width is m; 0: the policy's own. */
work policy_work_decide(const char *policy, const problem_shape *shape, size_t width);

/* Of a reward; where the policy trains now and then (eenet:authors), its share in a training. */
work policy_work_learn(const char *policy, const problem_shape *shape, size_t width);

/* Of so many rounds from the first on, training at the policy's schedule. */
work policy_work_run(const char *policy, const problem_shape *shape, size_t width, double rounds);

#endif
