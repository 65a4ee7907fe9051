#if Logging

package import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the records of a log that a ``RotatingLogFile`` writes, oldest first.
///
/// ```swift
/// let reader = try LogFileReader(at: folder.appending(path: "app.log"))
/// for record in try reader.read(upTo: 100) { print(record.message) }
/// ```
///
/// The reader starts with the rotated files, compressed or not, and continues in the current file across rotations:
/// later calls return the records that were logged since. It reads in chunks, and requires the format
/// ``LogFormat/jsonLines``. A reader belongs to one task at a time.
public final class LogFileReader {
    /// The position at which a reader starts.
    public enum Start: Sendable, Hashable {
        /// At the oldest record.
        case oldest
        /// At the current file, without the rotated ones.
        case current
    }

    /// The number of lines skipped because they are torn or in another format.
    public private(set) var skippedLineCount = 0

    private let names: LogFileNames
    private let files: any FileSystem
    private var waiting: ArraySlice<RotatedLogFile> = []
    /// The names of the rotated files in the last two lists: one that is compressed meanwhile can be missing in a list.
    ///
    /// They tell which files are new. Their times do not: a clock can be far ahead for a while.
    private var listed: (last: Set<String>, before: Set<String>) = ([], [])
    private var current: LogLines?
    /// Whether ``current`` was the current file of the log when it was opened.
    private var isActive = false
    /// The previous file: processes that have not noticed the rotation still append to it briefly.
    private var former: LogLines?

    /// Opens a log for reading.
    ///
    /// - Parameters:
    ///   - url: The log file that a ``RotatingLogFile`` writes.
    ///   - start: The position at which reading starts.
    /// - Throws: ``LoggingError``, with ``LoggingError/Code/notFound`` if there is no such log.
    public convenience init(at url: URL, from start: Start = .oldest) throws(LoggingError) {
        try self.init(
            at: url.path(percentEncoded: false),
            from: start,
            files: DiskFileSystem()
        )
    }

    package init(
        at path: String,
        from start: Start,
        files: any FileSystem
    ) throws(LoggingError) {
        names = LogFileNames(path)
        self.files = files
        let isThere: Bool
        do throws(FileSystemError) {
            let rotated = try files.size(of: names.folder) == nil ? [] : try newlyRotated()
            let active = try files.size(of: names.path)
            isThere = active != nil || !rotated.isEmpty
            if start == .oldest { waiting = rotated[...] }
        } catch {
            throw LoggingError(error, "Opening the log")
        }
        guard isThere else { throw LoggingError(.notFound, "There is no log at \(path)") }
    }

    /// Returns the next records, at most `count`.
    ///
    /// - Returns: The records; empty if there are no new ones yet.
    /// - Throws: ``LoggingError`` if nothing can be read. Records before a file that cannot be read are returned, and
    ///   the next call tries the file again.
    public func read(upTo count: Int) throws(LoggingError) -> [LogRecord] {
        var records: [LogRecord] = []
        do throws(FileSystemError) {
            while records.count < count, let line = try nextLine() {
                if let record = LogRecord(jsonLine: line) {
                    records.append(record)
                } else {
                    skippedLineCount += 1
                }
            }
        } catch {
            guard !records.isEmpty else { throw LoggingError(error, "Reading the log") }
        }
        return records
    }

    // MARK: Lines

    private func nextLine() throws(FileSystemError) -> ArraySlice<UInt8>? {
        while true {
            if let line = try current?.next() { return line }
            if let line = try former?.next() { return line }
            guard try openNext() else { return nil }
        }
    }

    /// Moves on to the next file; false if there is none yet.
    private func openNext() throws(FileSystemError) -> Bool {
        if isActive, let active = current {
            guard !active.isStill(at: names.path) else { return false }
            waiting = try newlyRotated()[...]
            // Lines appended before the rotation are still to be read.
            leave(for: nil)
            if let renamed = place(of: active, in: waiting) { waiting.remove(at: renamed) }
            return true
        }
        if let file = waiting.first {
            // Nil if the limits have deleted the file in the meantime.
            let next = try open(file)
            waiting.removeFirst()
            leave(for: next)
            return true
        }
        return try openActive()
    }

    private func openActive() throws(FileSystemError) -> Bool {
        let opened = try files.openIfThere(names.path)
        // The file may have been rotated since the last listing; newly rotated files come first.
        let newer = try newlyRotated()
        guard newer.isEmpty else {
            waiting = newer[...]
            return true
        }
        guard let opened else { return false }
        leave(for: LogLines(plain: opened))
        isActive = true
        return true
    }

    private func leave(for next: LogLines?) {
        former = current ?? former
        (current, isActive) = (next, false)
    }

    private func open(_ file: RotatedLogFile) throws(FileSystemError) -> LogLines? {
        for (name, isCompressed) in [(file.name, false), (file.compressedName, true)] {
            // It may have been compressed or deleted since the listing.
            guard let opened = try files.openIfThere(names.path(of: name)) else { continue }
            return isCompressed ? LogLines(compressed: opened) : LogLines(plain: opened)
        }
        return nil
    }

    /// Returns the rotated files that the lists before did not have, oldest first.
    private func newlyRotated() throws(FileSystemError) -> [RotatedLogFile] {
        let all = names.rotated(among: try files.names(in: names.folder))
        let new = all.filter {
            !listed.last.contains($0.name) && !listed.before.contains($0.name)
        }
        listed = (Set(all.map(\.name)), listed.last)
        return new
    }

    /// Returns the place of the file that was read as the current one, under its new name; nil if it was deleted.
    private func place(of file: LogLines, in rotated: ArraySlice<RotatedLogFile>) -> Int? {
        let plain = rotated.firstIndex { file.isStill(at: names.path(of: $0.name)) }
        if let plain { return plain }
        // Once compressed it is another file, with the same lines. That may be since the list.
        guard let line = file.firstLine else { return nil }
        return rotated.firstIndex { candidate in
            let path = names.path(of: candidate.compressedName)
            guard let opened = try? files.openIfThere(path) else { return false }
            return LogLines(compressed: opened).firstLine == line
        }
    }
}

@available(*, unavailable)
extension LogFileReader: Sendable {}

#endif
