import Foundation
import HTTPTypes
import Keel
import KeelHTTPTransfers
import KeelTestKit
import Testing

/// Examples from the comments of KeelHTTPTransfers; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func resumableDownload(_ address: URL, _ file: URL, _ client: NetworkClient) async throws
    {
        let download = ResumableDownload(from: address, to: file, through: client)
        let receipt = try await download.run()
        _ = download
        _ = receipt
    }

    static func transferEvent(_ download: ResumableDownload) async throws {
        let bar = Bar()
        let (observer, updates) = ResumableTransferObserver.updates()
        async let receipt = download.run(observer: observer)
        for await progress in updates { bar.value = progress.fraction }
        _ = try await receipt
    }

    static func resumableUpload(_ file: URL, _ address: URL, _ client: NetworkClient) async throws {
        let upload = ResumableUpload(of: file, to: address, through: client, protocol: .tus)
        let receipt = try await upload.run()
        _ = upload
        _ = receipt
    }
}
