#if Logging

internal import Logging

extension JSONLine {
    /// Appends an event directly, with the same bytes as its record, if it needs no record.
    ///
    /// It needs one if a text has to be redacted, truncated or described, a name is not plain, or the statement is new.
    ///
    /// - Parameters:
    ///   - event: The logged event.
    ///   - time: The time in microseconds since 1970.
    ///   - label: The label of the logger.
    ///   - base: The fields of the logger.
    ///   - provided: The metadata of a provider.
    ///   - recorder: The recorder that detects secrets.
    ///   - line: The buffer, which caches the parts of statements.
    /// - Returns: Whether the event was appended.
    static func append(
        _ event: LogEvent,
        at time: Int64,
        label: String,
        base: [LogField],
        provided: Logger.Metadata?,
        recorder: LogRecorder,
        to line: inout LineBuffer
    ) -> Bool {
        guard event.error == nil else { return false }
        let known = line.sites.parts(
            event.level,
            label,
            event.source,
            event.file,
            event.function,
            event.line
        )
        // The first record of a statement fills the cache.
        guard let known else { return false }
        let start = line.count
        begin(at: time, &line)
        line.append(known.middle)
        guard
            recorder.append(
                event.message.description,
                base,
                provided,
                event.metadata,
                to: &line
            )
        else {
            line.removeAll(behind: start)
            return false
        }
        line.append(known.end)
        return true
    }
}

#endif
