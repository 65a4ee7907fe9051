import Foundation
import KeelFiles

/// Puts and gets of files, compared with plain file handles, and with boto3 on the same server.
///
/// Documentation/Benchmarks.md has the targets.
enum FilesGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let size = options.isQuick ? 1 << 20 : 64 << 20
        let files = Lazily { try LocalFiles(options, byteCount: size) }
        let small = Lazily { try LocalFiles(options, byteCount: 4096) }
        let bucket = Lazily { try await BucketFiles(options) }
        let count = options.scaled(100)
        return [
            Measure(
                name: "put \(size >> 20) MiB in a folder / FileHandle",
                unit: "ms",
                target: .atMost(1.2),
                keel: { try await files.value().keelPut(1) },
                peer: { try await files.value().handlePut(1) }
            ),
            Measure(
                name: "put 4 KiB in a folder / FileHandle",
                unit: "ms",
                target: .atMost(1.2),
                keel: { try await small.value().keelPut(count) },
                peer: { try await small.value().handlePut(count) }
            ),
            Measure(
                name: "get \(size >> 20) MiB of a folder / FileHandle",
                unit: "ms",
                target: .atMost(1.2),
                keel: { try await files.value().keelGet(comparing: false) },
                peer: { try await files.value().handleGet() }
            ),
            Measure(
                name: "get \(size >> 20) MiB with its checksum / FileHandle",
                unit: "ms",
                target: .info,
                keel: { try await files.value().keelGet(comparing: true) },
                peer: { try await files.value().handleGet() }
            ),
            Measure(
                name: "put 64 MiB in a bucket, in parts / boto3",
                unit: "MiB/s",
                target: .partAtLeast(0.9),
                keel: { try await bucket.value().keelPut() },
                peer: { try await bucket.value().boto3("put") }
            ),
            Measure(
                name: "the same / boto3 and head_object",
                unit: "MiB/s",
                target: .growth,
                keel: { try await bucket.value().keelPut() },
                peer: { try await bucket.value().boto3("put-and-head") }
            ),
            Measure(
                name: "get 64 MiB of a bucket / boto3",
                unit: "MiB/s",
                target: .partAtLeast(1),
                keel: { try await bucket.value().keelGet() },
                peer: { try await bucket.value().boto3("get") }
            ),
        ]
    }
}
