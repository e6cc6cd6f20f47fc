// SPDX-License-Identifier: MIT

// Nearly every test here uses them.
@_exported import ConformanceCases
@_exported import CurlewCurl
@_exported import TestFixtures
@_exported import TestServers
