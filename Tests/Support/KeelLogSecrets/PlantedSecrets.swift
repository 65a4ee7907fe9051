#if Logging

internal import KeelLogging
internal import KeelTestKit
package import Logging

/// Secrets and personal data that tests plant in logs and that must not appear in any output.
package struct PlantedSecrets {
    /// The texts that must not appear, in the form of an unredacted output.
    package let secrets: [String]
    private let events: [@Sendable (Logger) -> Void]

    package func log(to logger: Logger) {
        for event in events { event(logger) }
    }

    /// Returns the secrets that appear in a text, in a single pass.
    package func found(in text: some Collection<UInt8>) -> [String] {
        let text = Array(text)
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        let byStart = Dictionary(grouping: secrets) { word(Array($0.utf8)[..<8]) }
        var found: Set<String> = []
        var window: UInt64 = 0
        for (index, byte) in text.enumerated() {
            window = window << 8 | UInt64(byte)
            guard index >= 7, let candidates = byStart[window] else { continue }
            for secret in candidates where text[(index - 7)...].starts(with: secret.utf8) {
                found.insert(secret)
            }
        }
        return found.sorted()
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// Makes secrets of all kinds, in all parts of a record.
    package static func make(_ count: Int, seed: UInt64) -> PlantedSecrets {
        var random = SeededRandom(seed: seed)
        var secrets: [String] = []
        var events: [@Sendable (Logger) -> Void] = []
        for number in 0..<count {
            let word =
                (0..<12).map { _ in
                    String(
                        Array("abcdefghijkmnpqrstuvwxyz")[Int.random(in: 0..<24, using: &random)]
                    )
                }.joined() + "\(number)Q"
            // Some secrets are redacted by their form anywhere, others only by their name or privacy mark.
            let form = Self.form(number, word, &random)
            if let form { secrets.append(form.secret) } else { secrets.append(word) }
            events.append(event(number, text: form?.text, word: word))
        }
        return PlantedSecrets(secrets: secrets, events: events)
    }

    private static func form(
        _ number: Int,
        _ word: String,
        _ random: inout SeededRandom
    ) -> (text: String, secret: String)? {
        switch number % 9 {
        case 0: return ("mail to \(word)@example.org now", "\(word)@example.org")
        case 1:
            let card = card(&random)
            return ("paid with \(card).", card)
        case 2: return ("header Bearer \(word).\(word) sent", word)
        case 3:
            let address = "10.\(number % 250).\(Int.random(in: 0...250, using: &random)).77"
            return ("from \(address) port 80", address)
        case 4: return ("url https://u:\(word)@example.org/a", word)
        case 5: return ("body {\"password\": \"\(word)\"} end", word)
        case 6: return ("eyJhbGciOiJIUzI1NiJ9.\(word).\(word)", word)
        default: return nil
        }
    }

    private static func event(_ number: Int, text: String?, word: String)
        -> @Sendable (Logger) -> Void
    {
        guard let text else {
            if number % 9 == 7 { return { $0.info("by name", metadata: named(number, word)) } }
            return { $0.info("by mark", metadata: ["who": "\(word, sensitivity: .sensitive)"]) }
        }
        switch number % 7 {
        case 0: return { $0.info("\(text)") }
        case 1: return { $0.info("x", metadata: ["note": "\(text)"]) }
        case 2: return { $0.info("x", metadata: ["deep": ["er": ["note": "\(text)"]]]) }
        case 3: return { $0.info("x", metadata: ["all": ["a", "\(text)"]]) }
        case 4: return { $0.error("x", error: Failure(description: text)) }
        case 5:
            return {
                var own = $0
                own[metadataKey: "context"] = "\(text)"
                own.info("x")
            }
        default:
            return { $0.info("x", metadata: ["n": .stringConvertible(Failure(description: text))]) }
        }
    }

    private static func named(_ number: Int, _ word: String) -> Logger.Metadata {
        switch number % 4 {
        case 0: ["password": "\(word)"]
        case 1: ["request": ["headers": ["Authorization": "\(word)"]]]
        case 2: ["X-Api-Key": ["\(word)"]]
        default: ["list": [["refresh_token": "\(word)"]]]
        }
    }

    /// Returns a number of sixteen digits that passes Luhn's check.
    private static func card(_ random: inout SeededRandom) -> String {
        var digits = [4] + (0..<14).map { _ in Int.random(in: 0...9, using: &random) }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let weighted = digit.offset % 2 == 0 ? digit.element * 2 : digit.element
            return sum + (weighted > 9 ? weighted - 9 : weighted)
        }
        digits.append((10 - sum % 10) % 10)
        return digits.map(String.init).joined()
    }
}

#endif
