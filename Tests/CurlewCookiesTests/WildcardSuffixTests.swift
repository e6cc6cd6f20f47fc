// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// Rules such as `*.compute.amazonaws.com`: the names beneath belong to different owners, and so the parent has no
/// owner.
@Suite(.timeLimit(.minutes(1)))
struct WildcardSuffixTests {
    /// What the list of publicsuffix.org has in its file of February 2023, shortened.
    static let excerpt = """
        com
        jp
        *.ck
        !www.ck
        *.kawasaki.jp
        *.kobe.jp
        !city.kawasaki.jp
        !city.kobe.jp
        *.compute.amazonaws.com
        *.elb.amazonaws.com
        us-east-1.elasticbeanstalk.com
        *.platform.sh
        *.stolos.io
        *.linodeobjects.com
        """

    struct Source: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String

        var testDescription: String { name }
    }

    /// The excerpt, and the list of the machine if there is one.
    static let sources: [Source] = {
        let path = "/usr/share/publicsuffix/public_suffix_list.dat"
        let embedded = Source(name: "an excerpt", text: excerpt)
        guard let system = try? String(contentsOfFile: path, encoding: .utf8) else {
            print(
                "\(path) cannot be read, so the rules of the system are not tested. Install the package publicsuffix.")
            return [embedded]
        }
        return [embedded, Source(name: "the list of the system", text: system)]
    }()

    private func rules(_ text: String, beginningWith sign: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { $0.prefix { !$0.isWhitespace } }
            .filter { $0.hasPrefix(sign) }.compactMap { Punycode.encodeName($0.dropFirst(sign.count).lowercased()) }
    }

    private func refusal(_ jar: inout CookieJar, _ line: String, from host: String) throws -> Cookie.Refusal? {
        jar.store(line, from: try HTTPRequest(url: "https://\(host)/"), at: CookieFixtures.now)
    }

    private func sent(_ jar: inout CookieJar, to host: String) throws -> String? {
        jar.header(for: try HTTPRequest(url: "https://\(host)/"), isCrossSite: false, at: CookieFixtures.now)
    }

    @Test("No host sets a cookie for the parent of a wildcard, and no sibling gets one", arguments: sources)
    func parents(source: Source) throws {
        let list = CookieStore.PublicSuffixList(parsing: source.text)
        let parents = rules(source.text, beginningWith: "*.")
        #expect(parents.count >= 7)
        for parent in parents {
            #expect(list.isPublic(parent), "\(parent)")
            #expect(list.isPublic("x.\(parent)"), "\(parent)")
            #expect(!list.isPublic("y.x.\(parent)"), "\(parent)")
            for host in ["ec2.x.\(parent)", "x.\(parent)"] {
                var jar = CookieJar(publicSuffixes: list)
                #expect(try refusal(&jar, "sid=evil; Domain=\(parent)", from: host) == .publicSuffix, "\(host)")
                #expect(try refusal(&jar, "sid=evil; Domain=.\(parent)", from: host) == .publicSuffix, "\(host)")
                for victim in ["victim.z.\(parent)", "z.\(parent)", parent, host] {
                    #expect(try sent(&jar, to: victim) == nil, "\(victim)")
                }
            }
        }
    }

    @Test("The owner of a name beneath, and the parent itself, keep cookies for themselves", arguments: sources)
    func owners(source: Source) throws {
        let list = CookieStore.PublicSuffixList(parsing: source.text)
        for parent in rules(source.text, beginningWith: "*.") {
            var jar = CookieJar(publicSuffixes: list)
            // A host that names itself gets a cookie for itself only (RFC 6265bis §5.7, step 9).
            #expect(try refusal(&jar, "own=1; Domain=\(parent)", from: parent) == nil, "\(parent)")
            #expect(try refusal(&jar, "more=2", from: parent) == nil, "\(parent)")
            #expect(try sent(&jar, to: parent) == "own=1; more=2", "\(parent)")
            #expect(try sent(&jar, to: "y.x.\(parent)") == nil, "\(parent)")
            #expect(try refusal(&jar, "site=3; Domain=y.x.\(parent)", from: "www.y.x.\(parent)") == nil, "\(parent)")
            #expect(try sent(&jar, to: "api.y.x.\(parent)") == "site=3", "\(parent)")
            #expect(try sent(&jar, to: "z.x.\(parent)") == nil, "\(parent)")
        }
    }

    @Test("An exception of a wildcard has an owner", arguments: sources)
    func exceptions(source: Source) throws {
        let list = CookieStore.PublicSuffixList(parsing: source.text)
        let exceptions = rules(source.text, beginningWith: "!")
        #expect(exceptions.count >= 3)
        for name in exceptions {
            #expect(!list.isPublic(name), "\(name)")
            #expect(list.site(of: "www.\(name)") == name, "\(name)")
            var jar = CookieJar(publicSuffixes: list)
            #expect(try refusal(&jar, "a=1; Domain=\(name)", from: "www.\(name)") == nil, "\(name)")
            #expect(try sent(&jar, to: "other.\(name)") == "a=1", "\(name)")
        }
    }
}
