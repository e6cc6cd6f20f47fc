// SPDX-License-Identifier: MIT

// Every file of these tests uses the fixtures.
@_exported import TestFixtures
