// The model of peers.stan in the style of the Stan User's Guide: a loop over items and ratings.
data {
  int<lower=1> items;
  int<lower=1> raters;
  int<lower=1> positions; // ratings of each item
  array[items, positions] int<lower=1, upper=raters> rater;
  array[items, positions] int<lower=0, upper=1> answer;
}
parameters {
  vector[2] logit_mean;
  vector<lower=0>[2] logit_sd;
  matrix[raters, 2] logit_offset;
  simplex[2] prevalence;
}
model {
  array[raters, 2] vector[2] log_p; // of an answer, by true class
  for (j in 1 : raters) {
    real specificity = logit_mean[1] + logit_sd[1] * logit_offset[j, 1];
    real sensitivity = logit_mean[2] + logit_sd[2] * logit_offset[j, 2];
    log_p[j, 1] = [log_inv_logit(specificity), log1m_inv_logit(sensitivity)]';
    log_p[j, 2] = [log1m_inv_logit(specificity), log_inv_logit(sensitivity)]';
  }
  logit_mean ~ normal(1.8, 0.8);
  logit_sd ~ normal(0, 1);
  to_vector(logit_offset) ~ std_normal();
  prevalence ~ dirichlet(rep_vector(0.5, 2));
  for (i in 1 : items) {
    vector[2] lp = log(prevalence);
    for (p in 1 : positions) {
      lp += log_p[rater[i, p], answer[i, p] + 1];
    }
    target += log_sum_exp(lp);
  }
}
