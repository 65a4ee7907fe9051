internal import Foundation
public import RestaurantsDomain

extension SampleRepositories: AccountRepository {
    /// Accepts any address with the password `engine`.
    public func signIn(
        _ email: EmailAddress,
        password: String
    ) async throws(DomainError) -> User {
        try await answer("signIn") { state throws(DomainError) in
            guard password == "engine" else { throw DomainError(.wrongPassword) }
            let name = String(email.text.prefix { $0 != "@" })
            let user = User(id: try UserID(name), name: name.capitalized, email: email)
            state.user = user
            return user
        }
    }

    public func signOut() async throws(DomainError) -> User? {
        try await answer("signOut") { $0.user.take() }
    }

    public func signedInUser() async throws(DomainError) -> User? {
        try await answer("signedInUser") { $0.user }
    }

    public func currentUser() async throws(DomainError) -> User {
        try await answer("currentUser") { state throws(DomainError) in
            guard let user = state.user else { throw DomainError(.notSignedIn) }
            return user
        }
    }
}

extension SampleRepositories: PendingChangeRepository {
    public func changes(of user: UserID) async throws(DomainError) -> [PendingChange] { [] }
    public func retry(_ change: PendingChange, of user: UserID) async throws(DomainError) {}
    public func discard(_ change: PendingChange, of user: UserID) async throws(DomainError) {}
}

extension SampleRepositories: WhereaboutsRepository {
    public func currentPlace() async throws(DomainError) -> Coordinate {
        try await answer("place") { state throws(DomainError) in
            guard let place = state.place else { throw DomainError(.locationUnknown) }
            return place
        }
    }
}

extension SampleRepositories: UsageRepository {
    public func note(_ command: String) {}
    public func decide(_ isAgreed: Bool) async throws(DomainError) {}

    public func ledger() async throws(DomainError) -> UsageLedger {
        UsageLedger(noted: 0, delivered: 0, waiting: 0, dropped: 0)
    }
}
