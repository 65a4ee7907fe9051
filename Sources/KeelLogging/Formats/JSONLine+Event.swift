#if Logging

internal import Logging

extension JSONLine {
    /// Appends an event as the same line that its record would become, where it needs none.
    ///
    /// - Parameters:
    ///   - event: What was logged.
    ///   - time: When, in microseconds since 1970.
    ///   - label: The label of the logger.
    ///   - base: The fields of the logger.
    ///   - provided: The metadata of a provider.
    ///   - recorder: What knows secrets.
    ///   - line: Where it goes, a buffer that keeps the parts of statements.
    /// - Returns: Whether it was appended. False if only a record can hold the event: something has
    ///   to be taken out, cut or described, or its names need more care.
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
        // The statement's first record makes them.
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
