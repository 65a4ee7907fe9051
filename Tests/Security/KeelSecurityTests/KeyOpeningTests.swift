#if Crypto
import Foundation
import KeelSecurity
import KeelTestKit
import Synchronization
import Testing

@Suite("Keys opened at first use", .timeLimit(.minutes(1)))
struct KeyOpeningTests {
    private func service(_ keyset: Keyset, failing count: Int = 0) -> SecurityService {
        let failures = Mutex(count)
        return SecurityService(opening: { () async throws(SecurityError) in
            // Like a store that answers on another thread.
            await Task.yield()
            let fails = failures.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if fails { throw SecurityError(.keyStoreFailed, "the store is locked") }
            return KeyRing(keyset)
        })
    }

    @Test("The first call opens the keys, all copies share them, and others decrypt with them")
    func first() async throws {
        let keyset = try Keyset.make(.aes256GCM)
        let security = service(keyset)
        let sealed = try security.encrypt(Data("note".utf8))
        #expect(try SecurityService(keyset: keyset).decrypt(sealed) == Data("note".utf8))
        #expect(try security.decrypt(sealed) == Data("note".utf8))
        #expect(security.keys != nil)
    }

    @Test("Calls use the prepared keys")
    func prepared() async throws {
        let security = service(try Keyset.make(.aes256GCM))
        try await security.prepare()
        let keys = try #require(security.keys)
        try await security.prepare()
        #expect(security.keys === keys)
        try await SecurityService().prepare()
    }

    @Test("A failed opening fails the call, and the next call opens the keys again")
    func failing() async throws {
        let security = service(try Keyset.make(.aes256GCM), failing: 3)
        let error = #expect(throws: SecurityError.self) { try security.encrypt(Data()) }
        #expect(error?.code == .keyStoreFailed)
        await #expect(throws: SecurityError.self) { try await security.prepare() }
        #expect(security.keys == nil)
        #expect(try security.decrypt(security.encrypt(Data([1]))) == Data([1]))
    }

    @Test("Calls that block every task thread do not prevent the keys from being opened")
    func manyWaiting() async throws {
        let security = service(try Keyset.make(.aes256GCM))
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let sealed = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<count { group.addTask { try security.encrypt(Data([7])) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // All calls used the same keyset, so each result can be decrypted.
        for data in sealed { #expect(try security.decrypt(data) == Data([7])) }
        #expect(sealed.count == count)
    }

    @Test("An observer sees each call and the code of its failure, without data")
    func observed() throws {
        let heard = Mutex<[SecurityObservation]>([])
        let security = service(try Keyset.make(.aes256GCM)).observed { observation in
            heard.withLock { $0.append(observation) }
        }
        let sealed = try security.encrypt(Data("abc".utf8))
        _ = try security.decrypt(sealed)
        _ = try? security.decrypt(Data([1, 2]))
        let all = heard.withLock { $0 }
        #expect(all.map(\.operation) == [.encrypt, .decrypt, .decrypt])
        #expect(all.map(\.failure) == [nil, nil, .decryptionFailed])
        #expect(all.map(\.byteCount) == [3, sealed.count, 2])
    }
}
#endif
