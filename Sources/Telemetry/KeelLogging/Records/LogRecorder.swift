#if Logging

public import KeelCore
public import Logging
internal import Synchronization

/// Makes records of logged events and redacts secrets.
///
/// All handlers of this module share this path, so no output reveals a value that another output hides:
///
/// - a value marked ``LogSensitivity/sensitive`` is replaced, and one marked `public` is written as it
///   is;
/// - a value whose name suggests a secret (`password`, `access_token`, …) is replaced, at any depth;
/// - in all other texts, the message and the error's description included, known patterns are replaced: mail addresses,
///   card numbers, tokens, keys, IP addresses and bank accounts.
///
/// Handlers that share a recorder share its cache of names. Texts are truncated at ``textByteLimit``.
public final class LogRecorder: Sendable {
    private struct Scratch: ~Copyable {
        /// A cache of whether names are sensitive.
        var names = RecentNames()
        var pieces = FieldPieces()
    }

    /// The maximum length of one text in bytes; longer texts are truncated and end in `…`.
    public let textByteLimit: Int

    private let redactor: Redactor?
    private let now: @Sendable () -> Int64
    private let scratch = Mutex(Scratch())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redactor: The redactor; nil writes texts as they are, even sensitive ones, for tests and private outputs.
    ///   - textByteLimit: The maximum length of one text in bytes, at least 64.
    ///   - now: Returns the time in microseconds since 1970; nil for the system's time.
    public init(
        redactor: Redactor? = .standard,
        textByteLimit: Int = 64 << 10,
        now: (@Sendable () -> Int64)? = nil
    ) {
        self.redactor = redactor
        self.textByteLimit = max(64, textByteLimit)
        self.now = now ?? { SystemTime.now() }
    }

    /// The default recorder with the standard rules, shared by handlers that are given no other.
    public static let standard = LogRecorder()

    /// Makes the redacted record of an event, with the ``fields(of:)`` of the logger and the metadata of a provider.
    public func record(
        _ event: LogEvent,
        label: String,
        base: [LogField] = [],
        provided: Logger.Metadata? = nil
    ) -> LogRecord {
        record(event, at: time, label: label, base: base, provided: provided)
    }

    /// The current time in microseconds since 1970.
    var time: Int64 { now() }

    func record(
        _ event: LogEvent,
        at time: Int64,
        label: String,
        base: [LogField],
        provided: Logger.Metadata?
    ) -> LogRecord {
        let room = (event.metadata?.count ?? 0) + 2
        var fields = LogFields(base, room: room, marker: redactor?.marker)
        if let provided { fields.add(provided) }
        if let metadata = event.metadata { fields.add(metadata) }
        if let error = event.error { fields.add(error) }
        var record = LogRecord(
            time: time,
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

    /// Makes redacted fields of a logger's metadata.
    ///
    /// - Returns: The fields, in ascending order of their names.
    public func fields(of metadata: Logger.Metadata) -> [LogField] {
        var fields = LogFields([], room: metadata.count, marker: redactor?.marker)
        fields.add(metadata)
        var message = ""
        clean(&fields.all, message: &message)
        for index in fields.all.indices { fields.all[index].rule = .nothing }
        fields.sort()
        return fields.all
    }

    // MARK: Redacting

    private struct Findings {
        var hasSecrets = false
        var hasLongTexts = false
    }

    private func clean(_ fields: inout [LogField], message: inout String) {
        guard let redactor else { return cut(&fields, &message) }
        var findings = Findings()
        look(message, redactor, &findings)
        for index in fields.indices {
            if fields[index].rule != .nothing {
                judge(&fields[index], redactor, &findings)
            } else if case .text(let text) = fields[index].value, text.utf8.count > textByteLimit {
                // A value marked as public is a text; the fields of the logger are already truncated.
                findings.hasLongTexts = true
            }
        }
        if findings.hasSecrets {
            message = redactor.redact(message)
            for index in fields.indices where fields[index].rule == .forms {
                fields[index].value.changeTexts { redactor.redact($0) }
            }
        }
        if findings.hasSecrets || findings.hasLongTexts { cut(&fields, &message) }
    }

    private func look(_ text: String, _ redactor: Redactor, _ findings: inout Findings) {
        text.withBytes { bytes in
            if bytes.count > textByteLimit { findings.hasLongTexts = true }
            if !findings.hasSecrets { findings.hasSecrets = redactor.isNeeded(for: bytes) }
        }
    }

    /// Replaces a value by its name or mark, or inspects its texts.
    private func judge(_ field: inout LogField, _ redactor: Redactor, _ findings: inout Findings) {
        let isSensitive = judge(name: &field.name, redactor)
        if field.rule == .hiding || field.rule == .names && isSensitive {
            field.value = field.value.hidden(by: redactor.marker)
            field.rule = .nothing
        } else {
            judge(&field.value, redactor, &findings)
            field.rule = .forms
        }
    }

    private func judge(_ value: inout LogValue, _ redactor: Redactor, _ findings: inout Findings) {
        switch value {
        case .text(let text):
            look(text, redactor, &findings)
        case .list(var values):
            for index in values.indices { judge(&values[index], redactor, &findings) }
            value = .list(values)
        case .map(var fields):
            for index in fields.indices {
                if judge(name: &fields[index].name, redactor) {
                    fields[index].value = fields[index].value.hidden(by: redactor.marker)
                } else {
                    judge(&fields[index].value, redactor, &findings)
                }
            }
            value = .map(fields)
        }
    }

    /// Redacts secrets within a name, and returns whether its values must be replaced.
    private func judge(name: inout String, _ redactor: Redactor) -> Bool {
        let verdict = name.withBytes { name in
            scratch.withLock { scratch in
                scratch.names.verdict(on: name) { redactor.verdict(onName: $0) }
            }
        }
        guard verdict == .secret else { return verdict == .sensitive }
        defer { name = redactor.redact(name) }
        return redactor.isSensitive(name)
    }

    // MARK: Without a record

    /// Appends a message and its fields as JSON, the fields in the order of their names.
    ///
    /// - Returns: False if a text has to be redacted or truncated, a value is not a text, or a name
    ///   is not plain ASCII; part of the line may then have been appended.
    func append(
        _ message: String,
        _ base: [LogField],
        _ provided: Logger.Metadata?,
        _ metadata: Logger.Metadata?,
        to line: inout LineBuffer
    ) -> Bool {
        let isMessagePlain = message.withBytes { bytes in
            guard isPlain(bytes) else { return false }
            line.append(json: bytes)
            return true
        }
        guard isMessagePlain else { return false }
        return scratch.withLock { scratch in
            scratch.pieces.removeAll()
            for field in base {
                // These fields were inspected when they were set on the logger.
                guard case .text(let value) = field.value,
                    add(field.name, value, isKnown: true, &scratch)
                else { return false }
            }
            if let provided, !add(provided, &scratch) { return false }
            if let metadata, !add(metadata, &scratch) { return false }
            guard !scratch.pieces.isEmpty else { return true }
            line.append(#","metadata":"#)
            scratch.pieces.append(to: &line)
            return true
        }
    }

    private func add(_ metadata: Logger.Metadata, _ scratch: inout Scratch) -> Bool {
        // By index, because iterating over pairs copies each of them three times.
        var place = metadata.startIndex
        while place != metadata.endIndex {
            // Other values are described by the app's code, which must not run under the lock.
            guard case .string(let text) = metadata.values[place],
                add(metadata.keys[place], text, isKnown: false, &scratch)
            else { return false }
            metadata.formIndex(after: &place)
        }
        return true
    }

    @inline(__always)
    private func add(
        _ name: String,
        _ value: String,
        isKnown: Bool,
        _ scratch: inout Scratch
    ) -> Bool {
        name.withBytes { name in
            let verdict = scratch.names.verdict(on: name) {
                redactor?.verdict(onName: $0)
            }
            guard verdict == .plain else { return false }
            return value.withBytes { value in
                (isKnown || isPlain(value)) && scratch.pieces.add(name, value)
            }
        }
    }

    @inline(__always)
    private func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count <= textByteLimit && redactor?.isNeeded(for: text) != true
    }

    // MARK: Truncating

    private func cut(_ fields: inout [LogField], _ message: inout String) {
        if message.utf8.count > textByteLimit { message = message.cut(to: textByteLimit) }
        for index in fields.indices where fields[index].value.byteCount > textByteLimit {
            fields[index].value.changeTexts { text in
                text.utf8.count > textByteLimit ? text.cut(to: textByteLimit) : text
            }
        }
    }
}

extension LogValue {
    /// The redactor's marker in place of the value.
    func hidden(by marker: RedactionMarker) -> LogValue {
        .text(marker.replacement(for: description.utf8))
    }

    fileprivate mutating func changeTexts(_ change: (String) -> String) {
        switch self {
        case .text(let text): self = .text(change(text))
        case .list(var values):
            for index in values.indices { values[index].changeTexts(change) }
            self = .list(values)
        case .map(var fields):
            for index in fields.indices { fields[index].value.changeTexts(change) }
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
    /// The longest prefix within the limit, followed by an ellipsis.
    fileprivate func cut(to limit: Int) -> String {
        var end = utf8.index(utf8.startIndex, offsetBy: limit - 3)
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end] + "…"
    }
}

#endif
