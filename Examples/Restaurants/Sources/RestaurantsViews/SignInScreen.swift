#if canImport(SwiftUI)
internal import RestaurantsDomain
public import RestaurantsUI
public import SwiftUI

/// The signed-in user, or the sign-in form.
public struct SignInScreen: View {
    @Bindable private var session: SessionModel

    /// Creates the screen.
    public init(_ session: SessionModel) { self.session = session }

    public var body: some View {
        Form {
            if let user = session.user {
                Section {
                    Text(user.name)
                    Text(user.email.text).foregroundStyle(.secondary)
                }
                Button("Sign out") { Task { await session.signOut() } }
            } else {
                TextField("E-mail", text: $session.email)
                    .textContentType(.username)
                SecureField("Password", text: $session.password)
                    .textContentType(.password)
                Button("Sign in") { Task { await session.signIn() } }
                    .disabled(!session.canSignIn)
            }
            if session.isBusy { ProgressView() }
            if let failure = session.failure { FailureView(failure: failure) }
        }
        .navigationTitle("Account")
    }
}
#endif
