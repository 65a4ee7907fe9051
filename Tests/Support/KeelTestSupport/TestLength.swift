internal import Foundation

/// The length of tests that repeat something many times, such as kills, crashes and random schedules.
///
/// A run for a change is brief. The nightly run sets `KEEL_THOROUGH` and does several times as much. A test may have a
/// variable of its own, such as `KEEL_KILLS`, which comes before both; `Scripts/soak.sh` sets those.
package enum TestLength {
    /// Whether the environment variable `KEEL_THOROUGH` is set to more than an empty text.
    package static let isThorough = !(ProcessInfo.processInfo.environment["KEEL_THOROUGH"] ?? "")
        .isEmpty

    /// Returns the number in the environment variable `name`, if there is one, and otherwise that of the run.
    package static func count<Number: FixedWidthInteger>(
        _ name: String,
        _ brief: Number,
        thorough: Number
    ) -> Number {
        let given = ProcessInfo.processInfo.environment[name].flatMap { Number($0) }
        return given ?? count(brief, thorough: thorough)
    }

    /// Returns the number of the run.
    package static func count<Number: FixedWidthInteger>(_ brief: Number, thorough: Number)
        -> Number
    {
        isThorough ? thorough : brief
    }
}
