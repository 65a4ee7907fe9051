import Foundation
import HTTPTypes
import Keel
import KeelJournal
import KeelTestKit
import Testing

/// Examples from the comments of KeelJournal; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func journalInspection(_ folder: URL) async throws {
        let inspection = try JournalInspection(of: folder)
        for consumer in try inspection.consumers() { print(consumer.name, consumer.counts.pending) }
        _ = inspection
    }

    static func journal2(_ folder: URL, _ bytes: [UInt8]) async throws {
        let journal = try Journal(at: folder)
        let consumer = try journal.consumer("server")
        try journal.append(bytes)
        for record in try consumer.read(upTo: 100) {
            try await send(record.bytes)
            try consumer.acknowledge([record.position])
        }
        _ = journal
        _ = consumer
    }
}
