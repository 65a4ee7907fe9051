// Tracks and delivers events until it is killed, and prints each step; see KillTests.
//
//     N                  the event N was acknowledged
//     D×1000000000+N     the event N arrived at the destination D; the negative random bits of its
//                        id follow
//
// Destination 1 recognizes repetitions and names the refused records, 2 refuses whole batches, so that they are
// halved, and 3 counts repetitions twice.

import Foundation
import KeelAnalytics
import KeelJournal

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = Int(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelAnalyticsCrashWriter <folder> <first>\n".utf8))
    exit(2)
}

/// Writing a short text to a pipe is atomic.
@Sendable func say(_ numbers: [Int]) {
    FileHandle.standardOutput.write(Data(numbers.map { "\($0)\n" }.joined().utf8))
}

@Sendable func number(_ record: AnalyticsRecord) -> Int {
    if case .integer(let number) = record.properties["number"] { Int(number) } else { 0 }
}

/// Arrivals are printed before the destination answers.
func destination(_ place: Int, _ guarantee: DeliveryGuarantee) -> HandlerDestination {
    let limits = BatchLimits(records: 20, bytes: .max)
    return HandlerDestination("d\(place)", guarantee: guarantee, limits: limits) { batch in
        let problem = DeliveryProblem("a fault")
        let draw = Int.random(in: 0..<12)
        switch draw {
        case 0: return .postponed(problem, notBefore: nil)
        case 1: return .unknown(problem)
        case 2 where batch.count > 1: return .tooLarge
        // Real time, in which the process can be killed during a delivery.
        case 3: try? await Task.sleep(for: .microseconds(300))
        default: break
        }
        let bad = batch.indices.filter { number(batch[$0]) % 23 == 7 }
        let rejection = AnalyticsRejection("refused", "a bad record")
        if place == 2, !bad.isEmpty { return .unacceptable(rejection) }
        say(
            batch.indices.filter { !bad.contains($0) }.flatMap { index in
                let bits = Int(batch[index].id.suffix(12), radix: 16) ?? 0
                return [place * 1_000_000_000 + number(batch[index]), -1 - bits]
            }
        )
        if draw == 4 { return .unknown(problem) }
        return .settled(rejected: Dictionary(bad.map { ($0, rejection) }) { first, _ in first })
    }
}

var configuration = AnalyticsConfiguration()
configuration.defaultConsent = .granted
configuration.journal.byteLimit = 64 << 20
configuration.add(destination(1, .effectivelyOnce))
configuration.add(destination(2, .effectivelyOnce))
configuration.add(destination(3, .atMostOnce))
let analytics = try AnalyticsService(
    at: URL(fileURLWithPath: arguments[1]),
    configuration: configuration
)
let deliveries = Task {
    while !Task.isCancelled { await analytics.flush() }
}
var next = first
while true {
    let text = String(repeating: "lorem ", count: next * 37 % 60)
    let parameters: [String: AnalyticsValue] = [
        "number": .integer(Int64(next)), "text": .string(text),
    ]
    try analytics.record(AnalyticsEvent(name: "a", parameters: parameters))
    say([next])
    next += 1
    // Real time, in which deliveries can keep up with the events.
    if next % 7 == 0 { try? await Task.sleep(for: .milliseconds(1)) }
}
