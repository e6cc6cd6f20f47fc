// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// The test vectors of the Public Suffix List, and the list that ships with the package.
@Suite(.timeLimit(.minutes(1)))
struct PublicSuffixVectorTests {
    /// From `tests/test_psl.txt` of https://github.com/publicsuffix/list, which is in the public domain (CC0): a name,
    /// and its public suffix with one label more, or `-`. Its `null` input has no counterpart, as a name is no optional
    /// here.
    static let vectors = """
        COM -
        example.COM example.com
        WwW.example.COM example.com
        .com -
        .example -
        .example.com -
        .example.example -
        example -
        example.example example.example
        b.example.example example.example
        a.b.example.example example.example
        biz -
        domain.biz domain.biz
        b.domain.biz domain.biz
        a.b.domain.biz domain.biz
        com -
        example.com example.com
        b.example.com example.com
        a.b.example.com example.com
        uk.com -
        example.uk.com example.uk.com
        b.example.uk.com example.uk.com
        a.b.example.uk.com example.uk.com
        test.ac test.ac
        mm -
        c.mm -
        b.c.mm b.c.mm
        a.b.c.mm b.c.mm
        jp -
        test.jp test.jp
        www.test.jp test.jp
        ac.jp -
        test.ac.jp test.ac.jp
        www.test.ac.jp test.ac.jp
        kyoto.jp -
        test.kyoto.jp test.kyoto.jp
        ide.kyoto.jp -
        b.ide.kyoto.jp b.ide.kyoto.jp
        a.b.ide.kyoto.jp b.ide.kyoto.jp
        c.kobe.jp -
        b.c.kobe.jp b.c.kobe.jp
        a.b.c.kobe.jp b.c.kobe.jp
        city.kobe.jp city.kobe.jp
        www.city.kobe.jp city.kobe.jp
        ck -
        test.ck -
        b.test.ck b.test.ck
        a.b.test.ck b.test.ck
        www.ck www.ck
        www.www.ck www.ck
        us -
        test.us test.us
        www.test.us test.us
        ak.us -
        test.ak.us test.ak.us
        www.test.ak.us test.ak.us
        k12.ak.us -
        test.k12.ak.us test.k12.ak.us
        www.test.k12.ak.us test.k12.ak.us
        食狮.com.cn 食狮.com.cn
        食狮.公司.cn 食狮.公司.cn
        www.食狮.公司.cn 食狮.公司.cn
        shishi.公司.cn shishi.公司.cn
        公司.cn -
        食狮.中国 食狮.中国
        www.食狮.中国 食狮.中国
        shishi.中国 shishi.中国
        中国 -
        xn--85x722f.com.cn xn--85x722f.com.cn
        xn--85x722f.xn--55qx5d.cn xn--85x722f.xn--55qx5d.cn
        www.xn--85x722f.xn--55qx5d.cn xn--85x722f.xn--55qx5d.cn
        shishi.xn--55qx5d.cn shishi.xn--55qx5d.cn
        xn--55qx5d.cn -
        xn--85x722f.xn--fiqs8s xn--85x722f.xn--fiqs8s
        www.xn--85x722f.xn--fiqs8s xn--85x722f.xn--fiqs8s
        shishi.xn--fiqs8s shishi.xn--fiqs8s
        xn--fiqs8s -
        """

    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let registrable: String?

        var testDescription: String { name }
    }

    static let all: [Vector] = vectors.split(separator: "\n").map { line in
        let words = line.split(separator: " ")
        return Vector(name: String(words[0]), registrable: words[1] == "-" ? nil : String(words[1]))
    }

    /// The list of the machine, if there is one.
    static let system = try? PrivateFile.read("/usr/share/publicsuffix/public_suffix_list.dat", limit: 8 << 20)
    private static let parsedSystem = system.map {
        CookieStore.PublicSuffixList(parsing: String(decoding: $0, as: UTF8.self))
    }

    @Test("The shipped list passes the vectors of the list's own tests", arguments: all)
    func vectors(vector: Vector) {
        let list = CookieStore.PublicSuffixList.bundled
        #expect(list.registrable(vector.name[...]).map { $0.lowercased() } == vector.registrable)
        guard let registrable = vector.registrable else { return }
        #expect(!list.isPublic(registrable))
        #expect(list.isPublic(String(registrable.drop { $0 != "." }.dropFirst())))
    }

    @Test("The list of the machine passes the vectors", .enabled(if: system != nil), arguments: all)
    func parsed(vector: Vector) throws {
        let list = try #require(Self.parsedSystem)
        #expect(list.registrable(vector.name[...]).map { $0.lowercased() } == vector.registrable)
    }

    @Test(
        "The table agrees with the list about each rule, its parents and the names beneath",
        .enabled(if: system.map { MessageDigest.sha256($0).hexText } == SuffixData.source))
    func table() throws {
        let text = String(decoding: try #require(Self.system), as: UTF8.self)
        let list = try #require(Self.parsedSystem)
        var rules = 0
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("//") {
            guard let word = line.split(separator: " ").first else { continue }
            rules += 1
            let rule = word.drop { $0 == "!" || $0 == "*" || $0 == "." }
            for name in [String(rule), "a.\(rule)", "b.a.\(rule)", "com.a.\(rule)", "zz.\(rule)", "\(rule).com"] {
                #expect(CookieStore.PublicSuffixList.bundled.isPublic(name) == list.isPublic(name), "\(name)")
                #expect(CookieStore.PublicSuffixList.bundled.site(of: name) == list.site(of: name), "\(name)")
            }
        }
        #expect(rules == SuffixData.rules)
    }

    @Test("A jar refuses cookies for hosting companies without any list on the machine")
    func jar() throws {
        var jar = CookieJar()
        for (host, domain) in [
            ("me.github.io", "github.io"), ("app.herokuapp.com", "herokuapp.com"),
            ("b.s3.amazonaws.com", "s3.amazonaws.com"),
            ("ec2.eu-west-1.compute.amazonaws.com", "compute.amazonaws.com"), ("shop.xn--55qx5d.cn", "xn--55qx5d.cn"),
            ("shop.xn--55qx5d.cn", "公司.cn"), ("a.com.", "com."),
        ] {
            let request = try HTTPRequest(url: "https://\(host)/")
            #expect(
                jar.store("a=b; Domain=\(domain)", from: request, at: CookieFixtures.now) == .publicSuffix, "\(host)")
        }
    }

    @Test("A Domain outside ASCII names the host in punycode")
    func unicodeDomain() throws {
        var jar = CookieJar()
        let request = try HTTPRequest(url: "https://www.xn--85x722f.xn--55qx5d.cn/")
        #expect(jar.store("a=b; Domain=食狮.公司.cn", from: request, at: CookieFixtures.now) == nil)
        #expect(jar.cookies.map(\.domain) == ["xn--85x722f.xn--55qx5d.cn"])
        #expect(jar.insert(Cookie(name: "c", value: "d", domain: "食狮.公司.cn"), at: CookieFixtures.now) == nil)
        #expect(
            jar.insert(Cookie(name: "c", value: "d", domain: "公司.cn", isHostOnly: false), at: CookieFixtures.now)
                == .publicSuffix)
    }
}
