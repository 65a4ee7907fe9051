internal import Foundation
internal import Synchronization

/// The clock of a server, compared with that of this machine.
final class ServerClock: Sendable {
    private let now: @Sendable () -> Date
    private let found = Mutex<TimeInterval?>(nil)

    /// Creates the clock of a server that has not answered yet.
    ///
    /// - Parameter now: Returns the time of this machine.
    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// How far the clock of this machine is behind, in seconds; 0 if it is not, or if the server has not told.
    var lead: TimeInterval { max(0, found.withLock { $0 } ?? 0) }

    /// Notes the `Date` field of a reply that has just come (RFC 9110, section 6.6.1).
    ///
    /// The first one counts. It has whole seconds, so the result is up to a second too small.
    func note(_ field: String?) {
        guard let field else { return }
        found.withLock { found in
            guard found == nil, let date = Self.formatter.date(from: field) else { return }
            found = date.timeIntervalSince(now())
        }
    }

    private static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter
    }
}
