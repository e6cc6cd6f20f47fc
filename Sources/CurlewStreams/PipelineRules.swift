// SPDX-License-Identifier: MIT

/// A namespace for helpers of this module.
enum StreamRules {}
