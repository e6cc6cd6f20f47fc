// SPDX-License-Identifier: MIT
#ifndef CURLEW_CCURL_H
#define CURLEW_CCURL_H
#endif
