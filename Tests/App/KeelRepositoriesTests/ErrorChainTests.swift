import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Error chain")
struct ErrorChainTests {
    private func check(_ error: some KeelError) {
        #expect(!error.code.name.isEmpty)
        #expect(error.code.advice.count > 15)
        #expect(error.errorDescription?.isEmpty == false)
        #expect(error.recoverySuggestion == error.code.advice)
        #expect(error.isCancellation == (error.code.name == "cancelled"))
    }

    @Test("Every code has a name, advice and a user-facing text")
    func explainsCodes() {
        for code in DataSourceError.Code.known { check(DataSourceError(code)) }
        for code in RepositoryError.Code.known { check(RepositoryError(code)) }
        for code in MappingError.Code.known { check(MappingError(code, field: "name")) }
        #expect(
            Set(DataSourceError.Code.known.map(\.name)).count == DataSourceError.Code.known.count
        )
        #expect(
            Set(RepositoryError.Code.known.map(\.name)).count == RepositoryError.Code.known.count
        )
        #expect(Set(MappingError.Code.known.map(\.name)).count == MappingError.Code.known.count)
    }

    @Test("Every transport code maps to a repository code", arguments: TransportError.Code.known)
    func mapsTransport(code: TransportError.Code) {
        let network = NetworkError(TransportError(code))
        let source = DataSourceError(network)
        #expect(source.code != .unknown)
        #expect(source.source == .remote)
        #expect(source.networkError?.transportError?.code == code)
        let error = RepositoryError(source)
        #expect(error.code != .unknown)
        #expect(error.isCancellation == (code == .cancelled))
        // Whether an error is transient is the same at each link.
        #expect(source.isTransient == network.isTransient)
        #expect(error.isTransient == network.isTransient)
    }

    @Test("Every network code maps to a repository code", arguments: NetworkError.Code.known)
    func mapsNetwork(code: NetworkError.Code) {
        let source = DataSourceError(NetworkError(code))
        #expect(source.code != .unknown)
        #expect(source.isTransient == code.isTransient)
        #expect(RepositoryError(source).code != .unknown)
    }

    @Test("Every storage code maps to a repository code", arguments: StorageError.Code.known)
    func mapsStorage(code: StorageError.Code) {
        let source = DataSourceError(StorageError(code, "why"))
        #expect(source.code != .unknown)
        #expect(source.source == .local)
        #expect(source.isTransient == code.isTransient)
        #expect(source.storageError?.code == code)
        #expect(RepositoryError(source).code != .unknown)
    }

    @Test("Every outbox code maps to a repository code", arguments: OutboxError.Code.known)
    func mapsOutbox(code: OutboxError.Code) {
        let source = DataSourceError(OutboxError(code))
        #expect(source.code != .unknown)
        #expect(RepositoryError(source).code != .unknown)
    }

    @Test("Every data source code maps to a repository code")
    func mapsDataSource() {
        for code in DataSourceError.Code.known where code != .unknown {
            let error = RepositoryError(DataSourceError(code))
            #expect(error.code != .unknown, "\(code)")
            #expect(error.dataSourceError?.code == code)
        }
    }

    @Test(
        "Each error status maps to its code",
        arguments: [
            (400, RepositoryError.Code.invalid), (401, .signInRequired), (403, .notPermitted),
            (404, .notFound), (409, .conflict), (410, .notFound), (412, .conflict),
            (422, .invalid), (418, .refused), (429, .unavailable), (503, .unavailable),
        ]
    )
    func mapsStatus(status: Int, code: RepositoryError.Code) async throws {
        let service = try TestService()
        service.transport.on(.get, "/v1/restaurants/{id}") { _ in .status(.init(code: status)) }
        let error = await #expect(throws: DataSourceError.self) {
            try await service.remote.request(GetRestaurant(id: "1"))
        }
        #expect(error.map { RepositoryError($0).code } == code)
    }

    private enum AppError: Error, Equatable { case offline, gone, other }

    @Test("A repository error maps to the app's own error")
    func mapsToTheApp() async {
        let table: [RepositoryError.Code: AppError] = [.unreachable: .offline, .notFound: .gone]
        #expect(RepositoryError(.notFound).mapped(to: table, else: .other) == .gone)
        #expect(RepositoryError(.conflict).mapped(to: table, else: .other) == .other)
        await #expect(throws: AppError.offline) {
            func appError(_ error: RepositoryError) -> AppError {
                error.mapped(to: table, else: .other)
            }
            try await RepositoryError.mapped(to: appError) {
                try await RepositoryError.mapping { throw DataSourceError(.timeout) }
            }
        }
    }

    private struct Odd: Error {}

    /// The error that an app's single call around a failing operation throws.
    private func code(of failure: any Error) async -> RepositoryError.Code? {
        func same(_ error: RepositoryError) -> RepositoryError { error }
        do throws(RepositoryError) {
            try await RepositoryError.mapped(to: same) {
                try await RepositoryError.mapping { throw failure }
            }
            return nil
        } catch { return error.code }
    }

    @Test("A single untyped closure maps any failure to the app's error")
    func mapsEverything() async throws {
        let notFound = StorageError(.documentNotFound, "none")
        #expect(await code(of: notFound) == .notFound)
        #expect(await code(of: DataSourceError(notFound)) == .notFound)
        #expect(await code(of: RepositoryError(.conflict)) == .conflict)
        #expect(await code(of: MappingError(.missing, field: "name")) == .unexpectedResponse)
        #expect(await code(of: TransportError(.offline, "away")) == .unreachable)
        #expect(await code(of: CancellationError()) == .cancelled)
        #expect(await code(of: Odd()) == .unknown)

        // The app's own error is rethrown as it is; an error from below stays the cause.
        func other(_ error: RepositoryError) -> AppError { .other }
        await #expect(throws: AppError.gone) {
            try await RepositoryError.mapped(to: other) { throw AppError.gone }
        }
        let error = await #expect(throws: DataSourceError.self) {
            try await DataSourceError.local { throw notFound }
        }
        #expect(error?.storageError?.code == .documentNotFound)

        // A function with a known error type is used directly.
        func find() async throws(StorageError) { throw notFound }
        await expectError(DataSourceError.self, .notFound) { try await DataSourceError.local(find) }
    }
}
