// Writes one file to a bucket and is killed meanwhile; see KeelFilesS3Tests/KillTests.

import Foundation
import KeelAsyncHTTPClient
import KeelFiles
import KeelFilesS3

#if Crypto && AsyncHTTPClient
guard CommandLine.arguments.count == 6 else {
    FileHandle.standardError.write(
        Data("usage: KeelS3CrashWriter <endpoint> <bucket> <path> <file> <notes>\n".utf8)
    )
    exit(2)
}
var configuration = S3FileStoreAdapter.Configuration(
    bucket: CommandLine.arguments[2],
    region: "us-east-1",
    endpoint: CommandLine.arguments[1]
)
configuration.partByteCount = S3FileStoreAdapter.Configuration.minimumPartByteCount
configuration.maximumConcurrentParts = 2
configuration.uploadFolder = CommandLine.arguments[5]
let store = FileStore(try S3FileStoreAdapter(configuration, transport: AsyncHTTPClientTransport()))
FileHandle.standardOutput.write(Data("begun\n".utf8))
do {
    try await store.write(
        contentsOf: URL(fileURLWithPath: CommandLine.arguments[4]),
        to: try FileStorePath(CommandLine.arguments[3])
    )
} catch {
    // An earlier run may have requested the end of the upload.
    let isUnclear = error.code == .unavailable
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(isUnclear ? 3 : 1)
}
FileHandle.standardOutput.write(Data("ended\n".utf8))
#endif
