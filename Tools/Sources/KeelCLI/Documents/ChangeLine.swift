import KeelDocumentTools
import KeelStorage
import KeelToolSupport

/// Changes of documents as lines, for people or for programs.
struct ChangeLine {
    let output: CommandOutput
    let isJSON: Bool
    /// The form of documents.
    let document: ExportLine

    /// Writes the changes of a snapshot, and its unreadable documents except for `known`.
    func write(
        _ snapshot: QuerySnapshot,
        known: [UnreadableDocument],
        fields: [FieldPath]? = nil
    ) throws {
        for failure in snapshot.failures where !known.contains(failure) { try write(failure) }
        for change in snapshot.changes {
            let path = change.document.path
            switch change.kind {
            case .added: try write("added", path, change.document, fields)
            case .modified: try write("modified", path, change.document, fields)
            case .removed: try write("removed", path, nil)
            }
        }
    }

    func write(
        _ kind: String,
        _ path: DocumentPath,
        _ current: Document?,
        _ fields: [FieldPath]? = nil
    ) throws {
        var text: String?
        do throws(StorageError) {
            text = try current.map { current throws(StorageError) in
                let current =
                    try fields.map { fields throws(StorageError) in
                        try current.selecting(fields)
                    } ?? current
                return String(decoding: try document.text(of: current), as: UTF8.self)
            }
        } catch {
            return try write(UnreadableDocument(path, error))
        }
        guard !isJSON else {
            let body = text.map { #","document":\#($0)"# } ?? ""
            try output.line(#"{"change":"\#(kind)","path":\#(Parsed.json(path.string))\#(body)}"#)
            return
        }
        let padded = kind + String(repeating: " ", count: 8 - kind.count)
        try output.line("\(padded)  \(path)\(text.map { "  \($0)" } ?? "")")
    }

    func write(_ document: UnreadableDocument) throws {
        let (path, reason) = (document.path.string, ToolError(describing: document.error).message)
        try output.line(
            isJSON
                ? #"{"change":"unreadable","path":\#(Parsed.json(path)),"reason":\#(Parsed.json(reason))}"#
                : "unreadable  \(path)  \(reason)"
        )
    }
}

/// Reports the outages of a listener on standard error.
struct OutageNote {
    private let output: CommandOutput
    private var isAway = false

    init(_ output: CommandOutput) { self.output = output }

    /// Reports the beginning or the end of an outage.
    mutating func show(_ isAway: Bool) {
        guard isAway != self.isAway else { return }
        self.isAway = isAway
        output.message(isAway ? "The store cannot be reached; trying again." : "Connected again.")
    }
}
