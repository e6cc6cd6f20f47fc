// SPDX-License-Identifier: MIT

import LegacyBridgeModel

@main
struct Main {
    static func main() async {}
}
