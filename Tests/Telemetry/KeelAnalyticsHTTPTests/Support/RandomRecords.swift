import KeelAnalytics
import KeelTestKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates records of all kinds and shapes from a seed.
struct RandomRecords {
    var random: SeededRandom
    private var count = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// A record such as an app may create, valid or not.
    mutating func next() -> AnalyticsRecord {
        count += 1
        let kinds: [AnalyticsRecord.Kind] = [
            .event(name()), .event(name()), .screen(text()), .identify, .userProperties,
        ]
        var record = AnalyticsRecord.sample(
            kinds[Int.random(in: 0..<kinds.count, using: &random)],
            number: count,
            userID: chance(3)
                ? nil : chance(20) ? "null" : "user-\(Int.random(in: 1...3, using: &random))",
            properties: properties(),
            userProperties: chance(2) ? [:] : properties()
        )
        if chance(3) { record.session = nil }
        if chance(3) { record.context = AnalyticsContext() }
        if chance(10) {
            record.time = now.addingTimeInterval(-Double.random(in: 0...500_000, using: &random))
        }
        return record
    }

    private mutating func chance(_ one: Int) -> Bool {
        Int.random(in: 0..<one, using: &random) == 0
    }

    private mutating func name() -> String {
        let names = [
            "signed_up", "Signed Up", "purchase", "error", "a", "", "ga_x", "ünïcode", "$identify",
            String(repeating: "n", count: 41), "[Amplitude] Revenue",
        ]
        return names[chance(2) ? 0 : Int.random(in: 0..<names.count, using: &random)]
    }

    private mutating func text() -> String {
        let texts = [
            "", "plain", "quote \" and \\ and / and \u{8} \n\t\r \u{1F}", "e\u{301}👩‍👩‍👧‍👦🇨🇭\u{0}",
            String(repeating: "long ", count: 60), String(repeating: "😀", count: 700),
            "\u{2028}\u{FFFD}\u{FEFF}",
        ]
        return texts[Int.random(in: 0..<texts.count, using: &random)]
    }

    private mutating func properties() -> [String: AnalyticsValue] {
        var properties: [String: AnalyticsValue] = [:]
        let count = chance(50) ? 300 : Int.random(in: 0...6, using: &random)
        for index in 0..<count {
            let names = ["plan", "p\(index)", "with space", "session_id", "time", "$set", "items"]
            properties[names[chance(3) ? Int.random(in: 0..<names.count, using: &random) : 1]] =
                value(4)
        }
        return properties
    }

    private mutating func value(_ depth: Int) -> AnalyticsValue {
        switch Int.random(in: 0..<(depth == 0 ? 6 : 8), using: &random) {
        case 0: return .null
        case 1: return .boolean(chance(2))
        case 2: return .integer([0, -1, .max, .min, 7][Int.random(in: 0..<5, using: &random)])
        case 3:
            let numbers = [0.1, 1e300, -2.5e-308, .nan, .infinity, -.infinity, 1, 1e16]
            return .double(numbers[Int.random(in: 0..<numbers.count, using: &random)])
        case 4: return .string(text())
        case 5:
            return .date(
                Date(timeIntervalSince1970: Double.random(in: -1e11...1e12, using: &random))
            )
        case 6:
            var elements: [AnalyticsValue] = []
            for _ in 0..<Int.random(in: 0...3, using: &random) { elements.append(value(depth - 1)) }
            return .array(elements)
        default:
            var members: [String: AnalyticsValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                members[text()] = value(depth - 1)
            }
            return .object(members)
        }
    }
}
