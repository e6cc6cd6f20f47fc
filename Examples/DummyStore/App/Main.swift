// SPDX-License-Identifier: MIT

import DummyStoreModel

@main
struct Main {
    static func main() async {}
}
