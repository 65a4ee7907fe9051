#if Logging

internal import Logging

/// A cache of the parts of JSON lines that all records of one statement share.
///
/// Level, label, module, file, function and line take more bytes than most messages; they are encoded once, for the
/// most recent statements.
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

    /// Bytes that are valid until the next call of ``CallSites/remember(_:_:for:)``.
    struct Parts {
        /// The part between the time and the message.
        let middle: UnsafeRawBufferPointer
        /// The part after the metadata.
        let end: UnsafeRawBufferPointer
    }

    private static let count = 256

    private var sites: [Site]

    init(isKept: Bool) { sites = isKept ? [Site](repeating: Site(), count: Self.count) : [] }

    deinit {
        for site in sites { Self.deallocate(site.parts) }
    }

    var isKept: Bool { !sites.isEmpty }

    func parts(
        _ level: Logger.Level,
        _ label: String,
        _ source: String,
        _ file: String,
        _ function: String,
        _ line: UInt
    ) -> Parts? {
        let place = Self.place(file, line)
        // Field by field, because passing a site to a method copies it.
        guard place < sites.count, sites[place].line == line, sites[place].level == level,
            sites[place].file == file, sites[place].function == function,
            sites[place].label == label, sites[place].source == source
        else { return nil }
        return sites[place].parts
    }

    mutating func remember(_ middle: [UInt8], _ end: [UInt8], for record: LogRecord) {
        // Labels or names made at run time are not worth the memory.
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

    /// The slot of a statement; statements with the same slot replace each other.
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
