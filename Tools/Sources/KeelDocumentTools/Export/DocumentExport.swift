package import Foundation
package import KeelStorage
package import KeelStorageAdapting
internal import KeelStorageFirestore
internal import KeelToolSupport

/// Writes the documents of a collection or group as lines of JSON, in the order of their paths.
///
/// Documents are read in pages. Where the store has a change log, the changes that came meanwhile
/// are worked into a file afterwards, so that it holds the state of the store at one point in time;
/// standard output cannot be corrected any more, and the report says whether anything changed. A
/// document that cannot be read keeps no other one from being written: the report names it.
package struct DocumentExport: Sendable {
    private let adapter: any StorageAdapter
    /// The time whose state is written, nil for the present.
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

    /// A client of the state that is written, the same for all pages.
    private func client() async throws(StorageError) -> StorageClient {
        let client = StorageClient(adapter)
        guard let time else { return client }
        // After the last change nothing is settled yet; Google's service does not tell its time.
        let present = try? await client.currentTime()
        return try client.asOf(min(time, present ?? time))
    }

    /// Writes to a file, which appears when it is complete.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - onProgress: Is told how many documents have been read, after each page.
    /// - Returns: What was written.
    /// - Throws: `ToolError` or `StorageError`; there is no new file then.
    package func run(
        to file: URL,
        onProgress: (Int) -> Void = { _ in }
    ) async throws -> ExportReport {
        // Typed lines name their documents, which working in the changes needs.
        var spool = try ReplacedFile(file, suffix: "spool")
        defer { spool.discard() }
        let start = try await position()
        var report = newReport
        try await eachLine(of: ExportLine(), &report, onProgress) { try spool.append(line: $0) }
        let changes = try await changes(since: start, &report)
        // What could not be read before is what it is now.
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

    /// Hands over line after line, without their ends.
    ///
    /// - Parameter write: Takes a line.
    /// - Returns: What was written.
    /// - Throws: `StorageError`, or what `write` throws.
    package func run(write: ([UInt8]) throws -> Void) async throws -> ExportReport {
        let start = try await position()
        var report = newReport
        try await eachLine(of: line, &report, { _ in }, write)
        _ = try await changes(since: start, &report)
        return report
    }

    /// What is known before anything has been read: the past does not change meanwhile.
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

    /// Where the change log is before the first page, nil where there is none or none is needed.
    private func position() async throws(StorageError) -> ChangeCursor? {
        // The client refuses a bad scope; the adapter below would not.
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
            // The log forgot what came meanwhile: what was read stands, as what it is.
            guard error.code == .cursorExpired else { throw error }
            return [:]
        }
    }

    /// Writes the lines of a spool with the changes in their places.
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
