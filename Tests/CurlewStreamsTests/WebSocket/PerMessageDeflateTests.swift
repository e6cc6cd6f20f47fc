// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The negotiation of permessage-deflate (RFC 7692 §5 and §7.1).
@Suite(.timeLimit(.minutes(1)))
struct PerMessageDeflateTests {
    @Test("The response may have each parameter once, in any order")
    func accepted() {
        #expect(PerMessageDeflate(response: ["permessage-deflate"]) == PerMessageDeflate())
        #expect(PerMessageDeflate(response: ["Permessage-Deflate"]) == PerMessageDeflate())
        var all = PerMessageDeflate()
        (all.serverMaxWindowBits, all.clientMaxWindowBits) = (9, 15)
        (all.serverNoContextTakeover, all.clientNoContextTakeover) = (true, true)
        let text =
            "permessage-deflate;client_max_window_bits=15 ; server_no_context_takeover;"
            + "\tserver_max_window_bits = \"9\"; Client_No_Context_Takeover"
        #expect(PerMessageDeflate(response: [text]) == all)
    }

    @Test("A window has 8 to 15 bits, without leading zeros", arguments: ["server", "client"])
    func windows(side: String) {
        for bits in 8...15 {
            let response = PerMessageDeflate(response: ["permessage-deflate; \(side)_max_window_bits=\(bits)"])
            #expect((side == "server" ? response?.serverMaxWindowBits : response?.clientMaxWindowBits) == bits)
        }
        for value in ["", "7", "16", "08", "+9", "-9", "9.0", "a", "99999999999999999999", "\"9", "\"\"", "9 9"] {
            #expect(PerMessageDeflate(response: ["permessage-deflate; \(side)_max_window_bits=\(value)"]) == nil)
        }
        #expect(PerMessageDeflate(response: ["permessage-deflate; \(side)_max_window_bits"]) == nil)
    }

    @Test(
        "Other parameters are refused",
        arguments: [
            "", "x-webkit-deflate-frame", "permessage-deflate;", "permessage-deflate; ; client_no_context_takeover",
            "permessage-deflate; unknown", "permessage-deflate; server_no_context_takeover=",
            "permessage-deflate; server_no_context_takeover=true", "permessage-deflate; =8", "permessage-deflate=1",
            "permessage-deflate, permessage-deflate", "permessage-deflate; client_no_context_takeover, other",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate; client_max_window_bits=9; Client_Max_Window_Bits=9", "permessage-bzip2",
        ])
    func refused(value: String) {
        #expect(PerMessageDeflate(response: [value]) == nil)
    }

    @Test("Two extensions in two fields are refused")
    func twoFields() {
        #expect(PerMessageDeflate(response: ["permessage-deflate", "permessage-deflate"]) == nil)
        #expect(PerMessageDeflate(response: []) == nil)
    }
}
