import KeelCore
import KeelTestKit
import Testing

/// A secret, and a text form in which a redactor must recognize it.
private struct Plant {
    let secret: String
    let text: String
}

extension Plant {
    static func random(using random: inout SeededRandom) -> Plant {
        func word(_ letters: String, _ count: Int) -> String {
            let letters = Array(letters)
            return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let digits = "0123456789"
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let secret = "\(word(alphanumerics, 8))@\(word("abcxyz", 6)).org"
            return Plant(secret: secret, text: secret)
        case 1:
            var number = "4" + word(digits, 14)
            let check = "0123456789".first { luhn(number + String($0)) } ?? "0"
            number.append(check)
            return Plant(secret: number, text: number)
        case 2:
            let secret = word(alphanumerics, 24)
            return Plant(secret: secret, text: "Bearer \(secret)")
        case 3:
            let secret =
                "eyJ\(word(alphanumerics, 12)).\(word(alphanumerics, 20)).\(word(alphanumerics, 20))"
            return Plant(secret: secret, text: secret)
        case 4:
            let octets = (0..<4).map { _ in String(Int.random(in: 0...255, using: &random)) }
            let secret = octets.joined(separator: ".")
            return Plant(secret: secret, text: secret)
        case 5:
            let groups = (0..<8).map { _ in word("0123456789abcdef", 4) }
            let secret = groups.joined(separator: ":")
            return Plant(secret: secret, text: secret)
        case 6:
            let secret = word(alphanumerics, 12)
            let name =
                ["password", "API-Key", "refreshToken", "client_secret"].randomElement(
                    using: &random
                ) ?? ""
            let separator = ["=", ": ", " = ", ":"].randomElement(using: &random) ?? ""
            return Plant(secret: secret, text: name + separator + secret)
        default:
            let secret = word(alphanumerics, 12)
            return Plant(secret: secret, text: "https://\(secret):\(secret)@example.org/")
        }
    }

    private static func luhn(_ digits: String) -> Bool {
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let value = (digit.element.wholeNumberValue ?? 0) * (digit.offset % 2 == 0 ? 1 : 2)
            return sum + value / 10 + value % 10
        }
        return sum % 10 == 0
    }
}

@Suite("Planted secrets")
struct RedactorPropertyTests {
    private static let fillers = [
        "the quick", "café", "1.5", "at 12:30", "(a, b)", "x=1", "{\"a\": 1}", "\\", "日本", "-",
        "\n",
        "\"", "GET /a?b=c", "%2F", "ends.",
    ]

    @Test("A planted secret never survives in text", arguments: [UInt64(11), 12, 13])
    func text(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<2_000 {
            var parts: [String] = []
            var secrets: [String] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                parts.append(Self.fillers.randomElement(using: &random) ?? "")
                let plant = Plant.random(using: &random)
                parts.append(plant.text)
                secrets.append(plant.secret)
            }
            let text = parts.joined(separator: " ")
            let redacted = Redactor.standard.redact(text)
            for secret in secrets {
                #expect(!redacted.contains(secret), "seed \(seed), round \(round): \(text)")
            }
            #expect(Redactor.standard.redact(redacted) == redacted, "seed \(seed), \(round)")
        }
    }

    @Test(
        "A planted secret never survives in JSON, wherever it is in the document",
        arguments: [UInt64(21), 22]
    )
    func json(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<1_000 {
            let plant = Plant.random(using: &random)
            let named = Plant.random(using: &random)
            let text = """
                {"items": [1, {"note": "before \(plant.text) after"}], "n": null,
                "session_token": {"deep": ["\(named.secret)"]}, "z": "end"}
                """
            let bytes = Redactor.standard.redactJSON(text.utf8)
            let redacted = String(decoding: bytes, as: UTF8.self)
            #expect(!redacted.contains(plant.secret), "seed \(seed), round \(round): \(text)")
            #expect(!redacted.contains(named.secret), "seed \(seed), round \(round): \(text)")
            #expect(redacted.hasSuffix("\"z\": \"end\"}"))
        }
    }

    @Test("No bytes crash the redactor", arguments: [UInt64(31), 32])
    func anyBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let alphabet = Array("ae4@:=.%+-\\\"'{}[], \nBbDE09_/?&#é".utf8)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = Redactor.standard.redact(text)
            _ = Redactor.standard.redactURL(text)
            _ = Redactor.standard.redactForm(text)
            _ = Redactor.standard.redactJSON(bytes)
        }
    }
}
