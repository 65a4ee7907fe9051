import KeelTestKit
import Testing

@testable import KeelCore

@Suite("Secret prefilter")
struct SecretPrefilterTests {
    private static let pieces = [
        "a", "e", "4", "@", ":", "=", ".", "%", "+", "-", "\\", "\"", "'", "{", "[", "]", ",", " ",
        "\n", "b", "B", "D", "E", "0", "9", "_", "/", "?", "&", "#", "é", "%40", "token",
        "password", "Bearer ", "bAsic ", "Authorization: ", "eyJ", "sk_live_", "sk-", "ghp_",
        "AKIA", "xoxb-", "hf_", "shpat_", "SG.", "npm_", "4111111111111111",
        "4111 1111 1111 1111", "4111-1111-1111-1111", "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00", "192.168.0.1", "::1", "fe80::1", "1.2.3", "+49 30 123456",
        "-----BEGIN PRIVATE KEY-----", "user:pw@host", "https://", "ada@example.org",
        "2026-11-22", "api_key", "order placed", "Bella Vista", "abcdefghij1234567890", "555",
    ]

    @Test(
        "The prefilter never misses a secret that the scanner finds",
        arguments: [UInt64(41), 42, 43]
    )
    func misses(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (found, passed) = (0, 0)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...8, using: &random))
                .map { _ in Self.pieces.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            let (mayHold, secrets) = Array(text.utf8).withUnsafeBufferPointer { bytes in
                var scanner = SecretScanner(bytes, patterns: .all)
                return (SecretPrefilter.mayHoldSecret(bytes), scanner.scan(.standard))
            }
            #expect(mayHold || secrets.isEmpty, "seed \(seed): \(text.debugDescription)")
            if !secrets.isEmpty { found += 1 }
            if !mayHold { passed += 1 }
        }
        // Both answers must occur, or the comparison proves nothing.
        #expect(found > 1_000 && passed > 1_000)
    }

    @Test(
        "The prefilter lets plain texts pass",
        arguments: [
            "", "order placed", "Trattoria Bella Vista", "100001", "3.25 ms", "5 of 7 done",
            "Home.swift", "GET /orders/17", "the ship's shelf", "it said “Grüezi”", "a-b_c", "x",
        ]
    )
    func passes(text: String) {
        let mayHold = Array(text.utf8).withUnsafeBufferPointer { SecretPrefilter.mayHoldSecret($0) }
        #expect(!mayHold)
    }

    @Test("A single secret at any position requires a redactor")
    func need() {
        let redactor = Redactor.standard
        for text in ["ada@example.org", "by ada@example.org", "pin=1 and ada@example.org ends"] {
            #expect(Array(text.utf8).withUnsafeBufferPointer { redactor.isNeeded(for: $0) })
        }
        for text in ["", "at 12:30", "x = 1", "a@b"] {
            #expect(!Array(text.utf8).withUnsafeBufferPointer { redactor.isNeeded(for: $0) })
        }
    }
}

@Suite("Recent names")
struct RecentNamesTests {
    private func verdict(
        _ names: inout RecentNames,
        _ name: String,
        asked: inout Int
    ) -> RecentNames.Verdict {
        Array(name.utf8).withUnsafeBufferPointer { bytes in
            names.verdict(on: bytes) { bytes in
                asked += 1
                return Redactor.standard.verdict(onName: bytes)
            }
        }
    }

    @Test("A name is judged once while it is remembered")
    func once() {
        var (names, asked) = (RecentNames(), 0)
        for _ in 0..<3 {
            #expect(verdict(&names, "restaurant", asked: &asked) == .plain)
            #expect(verdict(&names, "password", asked: &asked) == .sensitive)
            #expect(verdict(&names, "größe", asked: &asked) == .allowed)
            #expect(verdict(&names, "a\"b", asked: &asked) == .allowed)
            #expect(verdict(&names, "", asked: &asked) == .plain)
            #expect(verdict(&names, "ada@example.org", asked: &asked) == .secret)
        }
        #expect(asked == 6)
    }

    @Test("Similar names are distinguished")
    func likeness() {
        var (names, asked) = (RecentNames(), 0)
        var alike = (1...80).map { String(repeating: "a", count: $0) }
        alike += (8..<24).map { place in String((0..<32).map { $0 == place ? "b" : "a" }) }
        for _ in 0..<2 {
            for name in alike {
                #expect(verdict(&names, name, asked: &asked) == .plain)
                #expect(verdict(&names, name + "token", asked: &asked) == .sensitive)
                #expect(verdict(&names, name + "\u{1}", asked: &asked) == .allowed)
            }
        }
    }

    @Test("Names beyond the capacity still get correct verdicts")
    func many() {
        var (names, asked) = (RecentNames(), 0)
        var random = SeededRandom(seed: 5)
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<2_000, using: &random)
            let name = number % 3 == 0 ? "key\(number)secret" : "key\(number)name"
            let expected: RecentNames.Verdict = number % 3 == 0 ? .sensitive : .plain
            #expect(verdict(&names, name, asked: &asked) == expected)
        }
    }
}
