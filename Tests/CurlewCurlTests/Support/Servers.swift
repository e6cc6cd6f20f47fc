// SPDX-License-Identifier: MIT

// Nearly every test here talks to one of them.
@_exported import TestServers
