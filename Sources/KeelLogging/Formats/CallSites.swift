#if Logging

internal import Logging

/// The parts of JSON lines that are the same for all records of one statement.
///
/// Level, label, module, file, function and line take more bytes than most messages; they are
/// written once for each of the statements that logged last.
struct CallSites {
    private struct Site {
        var level = Logger.Level.trace
        var label = ""
        var source = ""
        var file = ""
        var function = ""
        var line: UInt = 0
        /// What stands between the time and the message.
        var middle: [UInt8] = []
        /// What stands behind the metadata.
        var end: [UInt8] = []
    }

    private static let count = 64

    private var sites = [Site](repeating: Site(), count: Self.count)

    /// The parts for a record, if they are known.
    func parts(for record: LogRecord) -> (middle: [UInt8], end: [UInt8])? {
        let place = Int(truncatingIfNeeded: record.line) & (Self.count - 1)
        // Field by field, because to hand a site to a method is to copy it.
        guard sites[place].line == record.line, sites[place].level == record.level,
            sites[place].file == record.file, sites[place].function == record.function,
            sites[place].label == record.label, sites[place].source == record.source,
            !sites[place].end.isEmpty
        else { return nil }
        return (sites[place].middle, sites[place].end)
    }

    /// Remembers the parts for the records of a statement.
    mutating func remember(_ middle: [UInt8], _ end: [UInt8], for record: LogRecord) {
        // Texts that somebody makes up are not worth the memory.
        guard middle.count + end.count <= 1024 else { return }
        sites[Int(truncatingIfNeeded: record.line) & (Self.count - 1)] = Site(
            level: record.level,
            label: record.label,
            source: record.source,
            file: record.file,
            function: record.function,
            line: record.line,
            middle: middle,
            end: end
        )
    }
}

#endif
