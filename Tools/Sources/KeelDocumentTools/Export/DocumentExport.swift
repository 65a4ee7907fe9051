package import Foundation
package import KeelStorage
package import KeelStorageAdapting
internal import KeelStorageFirestore
internal import KeelToolSupport

/// Writes the documents of a collection or group as lines of JSON, sorted by path.
///
/// Documents are read page by page. If the store has a change log, an export to a file then applies the changes made
/// meanwhile, so that the file has the state of the store at one time. Lines of another output cannot be corrected; the
/// report tells whether documents changed.
package struct DocumentExport: Sendable {
    private let adapter: any StorageAdapter
    /// The time of the exported state; nil for the present.
    private let time: Timestamp?
    private let scope: DocumentScope
    private let line: ExportLine
    private let pageSize: Int

    package init(
        from adapter: any StorageAdapter,
        _ scope: DocumentScope,
        as line: ExportLine = ExportLine(),
        asOf time: Timestamp? = nil,
        pageSize: Int = 500
    ) {
        self.adapter = adapter
        self.scope = scope
        self.line = line
        self.pageSize = pageSize
        self.time = time
    }

    private func client() async throws(StorageError) -> StorageClient {
        let client = StorageClient(adapter)
        guard let time else { return client }
        // A state after the last change is not final yet. Google's service does not report its time.
        let present = try? await client.currentTime()
        return try client.asOf(min(time, present ?? time))
    }

    /// Exports to a file, which is replaced when the export is complete.
    ///
    /// - Throws: `ToolError` or `StorageError`. The file is then unchanged.
    package func run(
        to file: URL,
        onProgress: (Int) -> Void = { _ in }
    ) async throws -> ExportReport {
        // The changes are merged by path, and only typed lines contain the path.
        var spool = try ReplacedFile(file, suffix: "spool")
        defer { spool.discard() }
        let start = try await position()
        var report = newReport
        try await eachLine(of: ExportLine(), &report, onProgress) { try spool.append(line: $0) }
        let changes = try await changes(since: start, &report)
        // The current state of a changed document replaces a failure to read it.
        for path in changes.keys { report.unreadable[path] = nil }
        guard line.isPlain || !changes.isEmpty else {
            try spool.finish()
            return report
        }
        try spool.flush()
        var output = try ReplacedFile(file)
        do {
            try merge(spool.part, changes, into: &output, &report)
            try output.finish()
        } catch {
            output.discard()
            throw error
        }
        if report.consistency == .mixed { report.consistency = .snapshot }
        return report
    }

    /// Exports to a closure.
    ///
    /// - Parameter write: Writes a line; it is given without the line break.
    /// - Returns: The report.
    /// - Throws: `StorageError`, or an error of `write`.
    package func run(write: ([UInt8]) throws -> Void) async throws -> ExportReport {
        let start = try await position()
        var report = newReport
        try await eachLine(of: line, &report, { _ in }, write)
        _ = try await changes(since: start, &report)
        return report
    }

    private var newReport: ExportReport {
        var report = ExportReport()
        if time != nil { report.consistency = .snapshot }
        return report
    }

    private func eachLine(
        of line: ExportLine,
        _ report: inout ExportReport,
        _ onProgress: (Int) -> Void,
        _ write: ([UInt8]) throws -> Void
    ) async throws {
        var pages = DocumentPages(try await client(), scope, size: pageSize)
        while let page = try await pages.next() {
            report.note(page.unreadable)
            for document in page.documents {
                guard let text = report.line(line, of: document) else { continue }
                try write(text)
                report.documents += 1
            }
            onProgress(report.documents)
        }
    }

    /// Returns the position of the change log; nil for a store without one, and for an export of the past.
    private func position() async throws(StorageError) -> ChangeCursor? {
        // The client rejects an invalid scope; the adapter alone would not.
        _ = try await client().page(scope.query, size: 1)
        guard time == nil, adapter.capabilities.contains(.changeLog) else { return nil }
        var request = ReadRequest(.query(scope.query.order(by: .documentID).limit(to: 1)))
        request.needsPosition = true
        request.reportsUnreadable = true
        return try await adapter.read(request).position
    }

    private func changes(
        since start: ChangeCursor?,
        _ report: inout ExportReport
    ) async throws(StorageError) -> [DocumentPath: Document?] {
        guard let start else { return [:] }
        do throws(StorageError) {
            let changes = try await ChangesSince(start, in: scope, of: adapter)
            report.changed = changes.documents.count
            report.consistency = changes.documents.isEmpty ? .snapshot : .mixed
            report.note(changes.unreadable.values)
            return changes.documents
        } catch {
            // The log no longer has the changes made during the export, so the consistency of the result is unknown.
            guard error.code == .cursorExpired else { throw error }
            return [:]
        }
    }

    /// Merges the lines of a spool file with the changes.
    private func merge(
        _ spool: URL,
        _ changes: [DocumentPath: Document?],
        into output: inout ReplacedFile,
        _ report: inout ExportReport
    ) throws {
        report.documents = 0
        func write(_ document: Document) throws {
            guard let text = report.line(line, of: document) else { return }
            try output.append(line: text)
            report.documents += 1
        }
        var upcoming = changes.keys.sorted()[...]
        var reader = try ElementReader(spool, container: .lines)
        while let element = try reader.next() {
            guard let document = try DocumentJSON.document(typed: element.text).document else {
                continue
            }
            while let path = upcoming.first, path < document.path {
                upcoming.removeFirst()
                if let changed = changes[path] ?? nil { try write(changed) }
            }
            guard upcoming.first != document.path else { continue }
            try write(document)
        }
        for path in upcoming {
            if let changed = changes[path] ?? nil { try write(changed) }
        }
    }
}

/// The conversion of a document into a line.
package struct ExportLine: Sendable {
    /// Whether lines are plain JSON rather than Firestore's typed form.
    package var isPlain: Bool
    /// The field of a plain line for the document's id, unless the document has the field.
    package var idField: FieldPath?

    package init(isPlain: Bool = false, idField: FieldPath? = nil) {
        self.isPlain = isPlain
        self.idField = idField
    }

    /// Returns the line of a document, without the line break.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document cannot be decoded.
    package func text(of document: Document) throws(StorageError) -> [UInt8] {
        guard isPlain else { return try DocumentJSON.typed(document) }
        var fields = try document.fields()
        if let idField, fields[idField] == nil { fields[idField] = .string(document.id) }
        return DocumentJSON.plain(.map(fields))
    }
}

/// The documents of a scope that changed after a position of the change log, in their current state.
struct ChangesSince {
    /// The documents by path; nil for deleted documents.
    private(set) var documents: [DocumentPath: Document?] = [:]
    /// The changed documents that cannot be read.
    private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]

    /// Reads the change log to its end.
    ///
    /// - Throws: `StorageError`, with the code `cursorExpired` if the log no longer reaches back to the position.
    init(
        _ start: ChangeCursor,
        in scope: DocumentScope,
        of adapter: any StorageAdapter
    ) async throws(StorageError) {
        var request = ChangeRequest(after: start, scope: scope.changes)
        while true {
            let page = try await adapter.changes(request)
            for change in page.changes where scope.contains(change.path) {
                unreadable[change.path] = nil
                switch change {
                case .current(let document): documents.updateValue(document, forKey: change.path)
                case .removed(let path, _, _), .leftScope(let path):
                    documents.updateValue(nil, forKey: path)
                case .unreadable(let document): unreadable[document.path] = document
                }
            }
            request.after = page.next
            if page.isCaughtUp { return }
        }
    }
}
