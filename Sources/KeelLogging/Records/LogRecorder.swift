#if Logging

public import KeelCore
public import Logging
internal import Synchronization

/// Makes records of what an app logs, and takes secrets out while doing so.
///
/// Every handler of this module makes its records here, so that no output can leak what another
/// one holds back:
///
/// - a value marked ``LogSensitivity/sensitive`` is replaced;
/// - so is the value of a name that tells (`password`, `access_token`, …), at any depth;
/// - in all other texts, the message and the error's description included, what is known by its
///   form is replaced: mail addresses, card numbers, tokens, keys, IP addresses and bank accounts.
///
/// Handlers that share a recorder share what it has learnt about names. Texts are cut at
/// ``textByteLimit``.
public final class LogRecorder: Sendable {
    private struct Scratch {
        /// The texts of one record, looked through in one go.
        var bytes: [UInt8] = []
        /// The same, one by one.
        var texts: [String] = []
        /// Those of earlier records without a secret, which are not looked through again.
        var clean = RecentTexts()
        /// Whether names are sensitive.
        var names = RecentTexts()

        mutating func begin() {
            bytes.removeAll(keepingCapacity: true)
            texts.removeAll(keepingCapacity: true)
        }

        mutating func gather(_ text: String) {
            guard clean.verdict(on: text) == nil else { return }
            texts.append(text)
            bytes.append(contentsOf: text.utf8)
            bytes.append(0x0A)
        }

        /// Whether none of the texts holds a secret.
        ///
        /// Nearly all records have nothing to hide: one look over all texts, joined by line breaks,
        /// says so. Joining can only make more look like a secret.
        mutating func isClean(_ redactor: Redactor) -> Bool {
            guard !bytes.isEmpty else { return true }
            guard redactor.redacted(bytes) == nil else { return false }
            for text in texts { clean.insert(text, true) }
            return true
        }
    }

    /// How many bytes of one text are kept at the most; what is longer ends in `…`.
    public let textByteLimit: Int

    private let redactor: Redactor?
    private let now: @Sendable () -> Int64
    private let scratch = Mutex(Scratch())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redactor: What takes secrets out; nil writes everything down as it is, which is for
    ///     tests and for outputs that nobody else reads.
    ///   - textByteLimit: How many bytes of one text are kept at the most, at least 64.
    ///   - now: The time, in microseconds since 1970; nil is the system's.
    public init(
        redactor: Redactor? = .standard,
        textByteLimit: Int = 64 << 10,
        now: (@Sendable () -> Int64)? = nil
    ) {
        self.redactor = redactor
        self.textByteLimit = max(64, textByteLimit)
        self.now = now ?? { SystemTime.now() }
    }

    /// The recorder with the standard rules that handlers share who are given no other.
    public static let standard = LogRecorder()

    /// Makes the record of an event.
    ///
    /// - Parameters:
    ///   - event: What was logged.
    ///   - label: The label of the logger.
    ///   - base: The fields of the logger, from ``fields(of:)``.
    ///   - provided: The metadata of a provider.
    /// - Returns: The record, without secrets.
    public func record(
        _ event: LogEvent,
        label: String,
        base: [LogField] = [],
        provided: Logger.Metadata? = nil
    ) -> LogRecord {
        var fields = LogFields(base, room: (event.metadata?.count ?? 0) + 2)
        if let provided { fields.add(provided) }
        if let metadata = event.metadata { fields.add(metadata) }
        if let error = event.error { fields.add(error) }
        var record = LogRecord(
            time: now(),
            level: event.level,
            label: label,
            message: event.message.description,
            source: event.source,
            file: event.file,
            function: event.function,
            line: event.line
        )
        clean(&fields.all, message: &record.message)
        fields.sort()
        record.fields = fields.all
        return record
    }

    /// Makes fields of a logger's metadata, without secrets.
    ///
    /// - Parameter metadata: The metadata.
    /// - Returns: The fields, in ascending order of their names.
    public func fields(of metadata: Logger.Metadata) -> [LogField] {
        var fields = LogFields([], room: metadata.count)
        fields.add(metadata)
        var message = ""
        clean(&fields.all, message: &message)
        for index in fields.all.indices { fields.all[index].rule = .nothing }
        fields.sort()
        return fields.all
    }

    // MARK: Taking out

    private func clean(_ fields: inout [LogField], message: inout String) {
        guard let redactor else { return cut(&fields, &message) }
        let (isClean, isShort) = scratch.withLock { scratch in
            scratch.begin()
            scratch.gather(message)
            for index in fields.indices where fields[index].rule != .nothing {
                judge(&fields[index], redactor, &scratch)
            }
            return (scratch.isClean(redactor), scratch.bytes.count <= textByteLimit)
        }
        if !isClean {
            message = redactor.redact(message)
            for index in fields.indices where fields[index].rule == .forms {
                fields[index].value.redactTexts(with: redactor)
            }
        }
        if !isShort || !isClean { cut(&fields, &message) }
    }

    /// Replaces a value that goes by its name or its mark, and gathers the texts of others.
    private func judge(_ field: inout LogField, _ redactor: Redactor, _ scratch: inout Scratch) {
        let isHidden =
            field.rule == .hiding
            || field.rule == .names && isSensitive(field.name, redactor, &scratch)
        if isHidden {
            field.value = field.value.hidden(by: redactor.marker)
            field.rule = .nothing
        } else {
            judge(&field.value, redactor, &scratch)
            field.rule = .forms
        }
    }

    private func judge(_ value: inout LogValue, _ redactor: Redactor, _ scratch: inout Scratch) {
        switch value {
        case .text(let text):
            scratch.gather(text)
        case .list(var values):
            for index in values.indices { judge(&values[index], redactor, &scratch) }
            value = .list(values)
        case .map(var fields):
            for index in fields.indices {
                if isSensitive(fields[index].name, redactor, &scratch) {
                    fields[index].value = fields[index].value.hidden(by: redactor.marker)
                } else {
                    judge(&fields[index].value, redactor, &scratch)
                }
            }
            value = .map(fields)
        }
    }

    private func isSensitive(
        _ name: String,
        _ redactor: Redactor,
        _ scratch: inout Scratch
    ) -> Bool {
        if let verdict = scratch.names.verdict(on: name) { return verdict }
        let verdict = redactor.isSensitive(name)
        scratch.names.insert(name, verdict)
        return verdict
    }

    // MARK: Cutting

    private func cut(_ fields: inout [LogField], _ message: inout String) {
        if message.utf8.count > textByteLimit { message = message.cut(to: textByteLimit) }
        for index in fields.indices where fields[index].value.byteCount > textByteLimit {
            fields[index].value.cutTexts(to: textByteLimit)
        }
    }
}

extension LogValue {
    /// The marker in the place of the value.
    fileprivate func hidden(by marker: RedactionMarker) -> LogValue {
        .text(marker.replacement(for: description.utf8))
    }

    fileprivate mutating func redactTexts(with redactor: Redactor) {
        switch self {
        case .text(let text):
            self = .text(redactor.redact(text))
        case .list(var values):
            for index in values.indices { values[index].redactTexts(with: redactor) }
            self = .list(values)
        case .map(var fields):
            for index in fields.indices {
                fields[index].value.redactTexts(with: redactor)
            }
            self = .map(fields)
        }
    }

    fileprivate mutating func cutTexts(to limit: Int) {
        switch self {
        case .text(let text):
            if text.utf8.count > limit { self = .text(text.cut(to: limit)) }
        case .list(var values):
            for index in values.indices { values[index].cutTexts(to: limit) }
            self = .list(values)
        case .map(var fields):
            for index in fields.indices { fields[index].value.cutTexts(to: limit) }
            self = .map(fields)
        }
    }
}

extension LogValue: CustomStringConvertible {
    /// The value on one line: `[a, b]`, `{name=value, other=value}`.
    public var description: String {
        switch self {
        case .text(let text): text
        case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .map(let fields):
            "{" + fields.map { "\($0.name)=\($0.value)" }.joined(separator: ", ") + "}"
        }
    }
}

extension String {
    /// The beginning of the text, at most so many bytes, and a sign that it goes on.
    fileprivate func cut(to limit: Int) -> String {
        var end = utf8.index(utf8.startIndex, offsetBy: limit - 3)
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end] + "…"
    }
}

#endif
