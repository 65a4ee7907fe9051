internal import Foundation
internal import Synchronization

final class ServerClock: Sendable {
    private let now: @Sendable () -> Date
    private let found = Mutex<TimeInterval?>(nil)

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// How far the clock of this machine is behind that of the server, in seconds; 0 if it is ahead or nothing is
    /// known.
    var lead: TimeInterval { max(0, found.withLock { $0 } ?? 0) }

    /// Notes the `Date` field of a reply that has just arrived (RFC 9110, section 6.6.1).
    ///
    /// Only the first one counts. It has whole seconds, so ``lead`` is too small by up to a second and the reply's
    /// delay.
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
