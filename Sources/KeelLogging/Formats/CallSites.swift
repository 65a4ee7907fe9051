#if Logging

internal import Logging

/// The parts of JSON lines that are the same for all records of one statement.
///
/// Level, label, module, file, function and line take more bytes than most messages; they are
/// written once for each of the statements that logged last.
struct CallSites: ~Copyable {
    private struct Site {
        var level = Logger.Level.trace
        var label = ""
        var source = ""
        var file = ""
        var function = ""
        var line: UInt = 0
        var parts: Parts?
    }

    /// Bytes that stay as they are until the next statement is remembered.
    struct Parts {
        /// What stands between the time and the message.
        let middle: UnsafeRawBufferPointer
        /// What stands behind the metadata.
        let end: UnsafeRawBufferPointer
    }

    private static let count = 256

    private var sites: [Site]

    /// Begins without any.
    ///
    /// - Parameter isKept: Whether statements are remembered at all.
    init(isKept: Bool) {
        sites = isKept ? [Site](repeating: Site(), count: Self.count) : []
    }

    deinit {
        for site in sites { Self.deallocate(site.parts) }
    }

    /// Whether statements are remembered.
    var isKept: Bool { !sites.isEmpty }

    /// The parts for the records of a statement, if they are known.
    func parts(
        _ level: Logger.Level,
        _ label: String,
        _ source: String,
        _ file: String,
        _ function: String,
        _ line: UInt
    ) -> Parts? {
        let place = Self.place(file, line)
        // Field by field, because to hand a site to a method is to copy it.
        guard place < sites.count, sites[place].line == line, sites[place].level == level,
            sites[place].file == file, sites[place].function == function,
            sites[place].label == label, sites[place].source == source
        else { return nil }
        return sites[place].parts
    }

    /// Remembers the parts for the records of a statement.
    mutating func remember(_ middle: [UInt8], _ end: [UInt8], for record: LogRecord) {
        // Texts that somebody makes up are not worth the memory.
        guard isKept, middle.count + end.count <= 1024 else { return }
        let place = Self.place(record.file, record.line)
        Self.deallocate(sites[place].parts)
        sites[place] = Site(
            level: record.level,
            label: record.label,
            source: record.source,
            file: record.file,
            function: record.function,
            line: record.line,
            parts: Parts(middle: Self.copy(middle), end: Self.copy(end))
        )
    }

    /// Where a statement is kept; others that belong there take its place.
    @inline(__always)
    private static func place(_ file: String, _ line: UInt) -> Int {
        Int(truncatingIfNeeded: line &+ 37 &* UInt(file.utf8.count)) & (count - 1)
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    private static func deallocate(_ parts: Parts?) {
        parts?.middle.deallocate()
        parts?.end.deallocate()
    }
}

#endif
