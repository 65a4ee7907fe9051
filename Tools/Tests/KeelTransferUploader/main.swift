// Uploads one file by the IETF's protocol until it is done or killed: see KeelTransferPeerTests.

import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelHTTPTransfers

/// The most memory that this process has had, in KiB (Linux).
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}

let usage = "usage: KeelTransferUploader <file> <address> <bytes of a piece>\n"
let arguments = CommandLine.arguments
guard arguments.count == 4, let address = URL(string: arguments[2]), let piece = Int(arguments[3])
else {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
let transport = AsyncHTTPClientTransport()
var configuration = ResumableUpload.Configuration()
configuration.pieceByteCount = piece
let upload = ResumableUpload(
    of: URL(filePath: arguments[1]),
    to: address,
    through: NetworkClient(baseURL: address, transport: transport),
    configuration: configuration
)
FileHandle.standardOutput.write(Data("0\n".utf8))
let before = peakMemory()
do {
    _ = try await upload.run(
        observer: .events { event in
            guard case .progress(let progress) = event else { return }
            FileHandle.standardOutput.write(Data("\(progress.completedBytes)\n".utf8))
        }
    )
    await transport.shutdown()
    FileHandle.standardError.write(Data("grew by \(peakMemory() - before) KiB\n".utf8))
    exit(0)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(error.code == .outcomeUnknown ? 3 : 1)
}
