/// The time that a clock has surely reached, kept in a file or in memory.
///
/// A clock can be years ahead for a while, for example after a start without a battery. So a time that the clock shows
/// is certain only once the clock shows a later one after a pause, and has shown no earlier one in between.
package struct CertainTime: Hashable, Sendable {
    /// The longest pause, in microseconds.
    package static let longestPause: Int64 = 3_600 * 1_000_000

    /// The time that becomes certain after the pause.
    private var shown: Int64
    /// A time that the clock has surely reached, in microseconds since 1970; nil while none is certain.
    package private(set) var certain: Int64?

    /// Notes what the clock shows.
    package mutating func note(_ now: Int64, pause: Int64) {
        if now < shown {
            shown = now
            certain = certain.map { min($0, now) }
        } else if now - shown >= pause {
            (certain, shown) = (shown, now)
        }
    }

    /// Returns the time before which everything is surely older than a limit, and notes what the clock shows; nil while
    /// no time is certain, also because the file cannot be written.
    ///
    /// The pause is an hour, or a quarter of a shorter limit, so things expire later than at their limit: by at most
    /// two pauses if the method is called often, otherwise at the second call. Times are in microseconds. The caller
    /// holds a lock that all users of the file hold.
    package static func oldest(
        within limit: Int64,
        at now: Int64,
        notedIn path: String,
        _ files: any FileSystem
    ) -> Int64? {
        let known = noted(in: path, files)
        var next = known ?? CertainTime(shown: now, certain: nil)
        next.note(now, pause: min(limit / 4, longestPause))
        if next != known {
            do throws(FileSystemError) {
                try files.replaceFile(path, by: path + ".part", with: next.bytes, keepsAccess: true)
            } catch {
                guard let certain = known?.certain, certain <= now else { return nil }
                next.certain = certain
            }
        }
        return next.certain.map { $0.subtractingReportingOverflow(limit).partialValue }
    }

    private var bytes: [UInt8] {
        let times = [shown] + (certain.map { [$0] } ?? [])
        return Array(times.map { "\($0)\n" }.joined().utf8)
    }

    private static func noted(in path: String, _ files: any FileSystem) -> CertainTime? {
        guard let file = try? files.open(path, for: .reading),
            let bytes = try? file.read(at: 0, count: 64)
        else { return nil }
        let times = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .map { Int64($0) }
        guard let first = times.first, let shown = first, shown >= 0 else { return nil }
        return CertainTime(shown: shown, certain: times.count > 1 ? times[1] : nil)
    }
}

extension CertainTime {
    package init(shownAt now: Int64) { self.init(shown: now, certain: nil) }
}
