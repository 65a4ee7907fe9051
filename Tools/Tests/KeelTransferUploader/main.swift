// Uploads one file by the IETF's protocol until it is done or killed: see KeelTransferPeerTests.

import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelHTTPTransfers

guard CommandLine.arguments.count == 3, let address = URL(string: CommandLine.arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelTransferUploader <file> <address>\n".utf8))
    exit(2)
}
let transport = AsyncHTTPClientTransport()
var configuration = ResumableUpload.Configuration()
configuration.pieceBytes = 64 * 1024
let upload = ResumableUpload(
    of: URL(filePath: CommandLine.arguments[1]),
    to: address,
    through: NetworkClient(baseURL: address, transport: transport),
    configuration: configuration
)
FileHandle.standardOutput.write(Data("0\n".utf8))
do {
    _ = try await upload.run(
        observer: .events { event in
            guard case .progress(let progress) = event else { return }
            FileHandle.standardOutput.write(Data("\(progress.completedBytes)\n".utf8))
        }
    )
    await transport.shutdown()
    exit(0)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(error.code == .outcomeUnknown ? 3 : 1)
}
