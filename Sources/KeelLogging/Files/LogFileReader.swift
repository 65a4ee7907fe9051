#if Logging

package import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the records of a log that a ``RotatingLogFile`` writes, the oldest first.
///
/// ```swift
/// let reader = try LogFileReader(at: folder.appending(path: "app.log"))
/// for record in try reader.take(upTo: 100) { print(record.message) }
/// ```
///
/// It begins with the rotated files, compressed or not, and goes on in the file that is written,
/// across rotations: asked again, it gives out what was logged since. It reads in pieces, whatever
/// the size of the files, and needs records that are written as ``LogFormat/jsonLines``.
///
/// A reader belongs to one task at a time.
public final class LogFileReader {
    /// Where a reader begins.
    public enum Start: Sendable, Hashable {
        /// With the oldest record that there is.
        case oldest
        /// With the file that is written, without rotated ones.
        case current
    }

    /// How many lines were passed over because they are no records: torn ones, or such as another
    /// format has.
    public private(set) var foreignLines = 0

    private let names: LogFileNames
    private let files: any FileSystem
    /// Rotated files that are to be read, the oldest first.
    private var waiting: ArraySlice<RotatedLogFile> = []
    /// The time of the last rotated file that needs no look any more.
    private var finished = ""
    private var current: LogLines?
    /// Whether ``current`` is the file that is written, or was when it was opened.
    private var isActive = false
    /// The file before the current one: processes that have not noticed the rotation add to it for
    /// a moment.
    private var former: LogLines?

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - url: The file that is written, where ``RotatingLogFile`` was told to write.
    ///   - start: Where to begin.
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
            let rotated = try files.size(of: names.folder) == nil ? [] : try rotated()
            let active = try files.size(of: names.path)
            isThere = active != nil || !rotated.isEmpty
            switch start {
            case .oldest: waiting = rotated[...]
            case .current: finished = rotated.last?.time ?? ""
            }
        } catch {
            throw LoggingError(error, "Opening the log")
        }
        guard isThere else { throw LoggingError(.notFound, "There is no log at \(path)") }
    }

    /// Gives out the next records.
    ///
    /// - Parameter count: How many at most.
    /// - Returns: The records, none if there is nothing new by now.
    /// - Throws: ``LoggingError``.
    public func take(upTo count: Int) throws(LoggingError) -> [LogRecord] {
        var records: [LogRecord] = []
        do throws(FileSystemError) {
            while records.count < count, let line = try nextLine() {
                if let record = LogRecord(jsonLine: line) {
                    records.append(record)
                } else {
                    foreignLines += 1
                }
            }
        } catch {
            throw LoggingError(error, "Reading the log")
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

    /// Goes on with the next file; false if there is none by now.
    private func openNext() throws(FileSystemError) -> Bool {
        if isActive, let active = current {
            guard !active.isStill(at: names.path) else { return false }
            // What was added before it was rotated is still to be read.
            former = active
            (current, isActive) = (nil, false)
            // The oldest of those that are new is the one just read, under its new name.
            waiting = try rotated().drop { $0.time <= finished }
            if let renamed = waiting.popFirst() { finished = renamed.time }
            return true
        }
        if let file = waiting.popFirst() {
            // One that a limit has removed meanwhile is gone.
            current = try open(file)
            finished = file.time
            return true
        }
        return try openActive()
    }

    private func openActive() throws(FileSystemError) -> Bool {
        let opened: (any OpenFile)?
        do throws(FileSystemError) {
            opened = try files.open(names.path, for: .reading)
        } catch {
            guard error.kind == .notFound else { throw error }
            opened = nil
        }
        // It may have been rotated since the others were looked at: those come first then.
        let newer = try rotated().drop { $0.time <= finished }
        guard newer.isEmpty else {
            waiting = newer
            return true
        }
        guard let opened else { return false }
        current = LogLines(plain: opened)
        isActive = true
        return true
    }

    private func open(_ file: RotatedLogFile) throws(FileSystemError) -> LogLines? {
        for (name, isCompressed) in [(file.name, false), (file.compressedName, true)] {
            do throws(FileSystemError) {
                let opened = try files.open(names.path(of: name), for: .reading)
                return isCompressed ? LogLines(compressed: opened) : LogLines(plain: opened)
            } catch {
                // Compressed, or removed, since its name was read.
                guard error.kind == .notFound else { throw error }
            }
        }
        return nil
    }

    private func rotated() throws(FileSystemError) -> [RotatedLogFile] {
        names.rotated(among: try files.names(in: names.folder))
    }
}

@available(*, unavailable)
extension LogFileReader: Sendable {}

#endif
