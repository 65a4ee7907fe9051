#if Logging

/// The names of a log file and its companions, all in one folder.
///
/// `app.log` is the current file; `app-20261122T094513.123456Z.log` was rotated at that time, and
/// gets the suffix `.gz` once compressed. Ascending order of names is chronological order.
struct LogFileNames: Sendable {
    let folder: String
    let name: String
    /// Stored, because every look at the file while writing needs it.
    let path: String
    private let stem: String
    private let ending: String

    init(_ path: String) {
        var folder = path.split(separator: "/", omittingEmptySubsequences: false)
        name = folder.popLast().map(String.init) ?? path
        let joined = folder.joined(separator: "/")
        self.folder = joined.isEmpty && path.hasPrefix("/") ? "/" : joined.isEmpty ? "." : joined
        if let dot = name.lastIndex(of: "."), dot != name.startIndex {
            stem = String(name[..<dot])
            ending = String(name[dot...])
        } else {
            stem = name
            ending = ""
        }
        self.path = Self.path(of: name, in: self.folder)
    }

    var lock: String { path(of: ".\(name).lock") }
    /// The lock held by the process that maintains the rotated files.
    var workLock: String { path(of: ".\(name).work.lock") }
    /// The certain time, if files are removed for their age.
    var time: String { path(of: ".\(name).time") }

    func path(of name: String) -> String { Self.path(of: name, in: folder) }

    private static func path(of name: String, in folder: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    func rotated(at time: Int64) -> String { "\(stem)-\(Self.stamp(of: time))\(ending)" }

    /// A time as used in names: `20261122T094513.123456Z` (ISO 8601, basic format).
    static func stamp(of time: Int64) -> String {
        let stamp = LogTimestamp(time)
        var text = LineBuffer(capacity: 32)
        text.append(stamp.year, digits: 4)
        text.append(stamp.month, digits: 2)
        text.append(stamp.day, digits: 2)
        text.append("T")
        text.append(stamp.second / 3600, digits: 2)
        text.append(stamp.second / 60 % 60, digits: 2)
        text.append(stamp.second % 60, digits: 2)
        text.append(".")
        text.append(stamp.microsecond, digits: 6)
        text.append("Z")
        return String(decoding: text.bytes, as: UTF8.self)
    }

    /// Returns the rotated files among the names, compressed or not, oldest first.
    func rotated(among names: [String]) -> [RotatedLogFile] {
        var files: [String: RotatedLogFile] = [:]
        for name in names {
            let isCompressed = name.hasSuffix(".gz")
            let plain = isCompressed ? String(name.dropLast(3)) : name
            guard plain.hasPrefix(stem + "-"), plain.hasSuffix(ending) else { continue }
            let time = plain.dropFirst(stem.count + 1).dropLast(ending.count)
            guard Self.isTime(time) else { continue }
            var file = files[plain] ?? RotatedLogFile(name: plain, time: String(time))
            if isCompressed { file.hasCompressed = true } else { file.hasPlain = true }
            files[plain] = file
        }
        return files.values.sorted { $0.time < $1.time }
    }

    private static func isTime(_ text: Substring) -> Bool {
        text.utf8.count == 23
            && zip(text.utf8, "00000000T000000.000000Z".utf8).allSatisfy { byte, pattern in
                pattern == UInt8(ascii: "0") ? byte &- 0x30 < 10 : byte == pattern
            }
    }
}

/// A rotated file, identified by its name without `.gz`.
struct RotatedLogFile: Sendable, Hashable {
    let name: String
    let time: String
    var hasPlain = false
    var hasCompressed = false

    var compressedName: String { name + ".gz" }
    /// The name of the compressed file while it is incomplete.
    var partName: String { name + ".gz.part" }
}

#endif
