#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelFiles
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@testable import KeelFilesS3

@Suite("Keys that are not file paths")
struct UnlistedKeyTests {
    private static func object(_ key: String, size: Int) -> String {
        "<Contents><Key>\(key)</Key><LastModified>2027-01-15T08:00:00Z</LastModified>"
            + "<ETag>&quot;1&quot;</ETag><Size>\(size)</Size></Contents>"
    }

    @Test("They are left out of a list and reported, unless they represent folders")
    func reported() async throws {
        let contents = [
            Self.object("root/f/", size: 0), Self.object("root/f//b", size: 2),
            Self.object("root/f/a", size: 1), Self.object("root/f/c/", size: 3),
        ]
        let text =
            "<ListBucketResult><IsTruncated>false</IsTruncated>\(contents.joined())"
            + "<CommonPrefixes><Prefix>root/f//</Prefix></CommonPrefixes>"
            + "<CommonPrefixes><Prefix>root/f/d/</Prefix></CommonPrefixes></ListBucketResult>"
        let transport = ScriptedHTTPTransport([.status(.ok, body: Array(text.utf8))])
        let reported = Mutex<[String]>([])
        let adapter = try s3Adapter(transport) {
            $0.root = "root"
            $0.onUnlistedKey = { key in reported.withLock { $0.append(key) } }
        }
        let page = try await FileStore(adapter).list(in: "f", isRecursive: false)
        #expect(page.files.map(\.path) == ["f/a"])
        #expect(page.folders == ["f/d"])
        #expect(reported.withLock { $0 } == ["root/f//b", "root/f/c/", "root/f//"])
    }
}
#endif
