internal import KeelDependencies
public import Observation
public import RestaurantsDomain

/// The signed-in user and the sign-in form, shared by all screens of an app.
@MainActor
@Observable
public final class SessionModel {
    /// The signed-in user.
    public private(set) var user: User?
    /// Whether a request is in progress.
    public private(set) var isBusy = false
    /// The failure of the last attempt to sign in or out.
    public private(set) var failure: ScreenFailure?
    /// The e-mail address as typed.
    public var email = ""
    /// The password as typed, cleared after use.
    public var password = ""

    /// The use cases, read once, so that all screens share them.
    let useCases: UseCases

    /// Creates the model on the dependency `restaurants`; nobody is signed in before ``restore()``.
    public init() {
        @Dependency(\.restaurants) var useCases
        self.useCases = useCases
    }

    /// The user whose favourites and ratings the screens show.
    public var userID: UserID { user?.id ?? .onThisDevice }

    /// Whether the form is complete.
    public var canSignIn: Bool { !isBusy && !email.isEmpty && !password.isEmpty }

    /// Restores the signed-in user.
    public func restore() async {
        // Having no user, or a service that cannot be reached, is not a failure here.
        user = try? await useCases.showCurrentUser()
    }

    /// Signs in with the form's contents.
    public func signIn() async {
        guard canSignIn else { return }
        (isBusy, failure) = (true, nil)
        defer { isBusy = false }
        let (address, word) = (email, password)
        password = ""
        do throws(DomainError) {
            user = try await useCases.signIn(address, password: word)
            email = ""
        } catch {
            failure = ScreenFailure(error)
        }
    }

    /// Signs out.
    public func signOut() async {
        guard !isBusy else { return }
        (isBusy, failure) = (true, nil)
        defer { isBusy = false }
        do throws(DomainError) {
            try await useCases.signOut()
            user = nil
        } catch {
            failure = ScreenFailure(error)
        }
    }
}
