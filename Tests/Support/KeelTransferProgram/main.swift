// Downloads or uploads one file until it is done or killed; see KeelHTTPTransfersTests.

#if AsyncHTTPClient
import Foundation
import KeelAsyncHTTPClient
import KeelHTTP
import KeelHTTPTransfers

/// Prints one line; writing a short line to a pipe is atomic.
@Sendable func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

/// Returns the peak memory of this process, in KiB (Linux).
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}

let usage = "usage: KeelTransferProgram download|upload-ietf|upload-tus <file> <address> <bytes>\n"
let arguments = CommandLine.arguments
guard arguments.count == 5, let address = URL(string: arguments[3]), let step = Int(arguments[4])
else {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
let file = URL(fileURLWithPath: arguments[2])
let transport = AsyncHTTPClientTransport()
let client = NetworkClient(baseURL: address, transport: transport)
let observer = ResumableTransferObserver.events { event in
    if case .progress(let progress) = event { say("\(progress.completedBytes)") }
}
say("0")
let before = peakMemory()
do {
    if arguments[1] == "download" {
        var configuration = ResumableDownload.Configuration()
        configuration.checkpointByteCount = step
        let download = ResumableDownload(
            from: address,
            to: file,
            through: client,
            configuration: configuration
        )
        _ = try await download.run(observer: observer)
    } else {
        var configuration = ResumableUpload.Configuration()
        configuration.pieceByteCount = step
        let upload = ResumableUpload(
            of: file,
            to: address,
            through: client,
            protocol: arguments[1] == "upload-tus" ? .tus : .ietf,
            configuration: configuration
        )
        _ = try await upload.run(observer: observer)
    }
    await transport.shutdown()
    FileHandle.standardError.write(Data("grew by \(peakMemory() - before) KiB\n".utf8))
    exit(0)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
#endif
