/// The help texts of the app.
public enum Help: Sendable {
    /// The output of `--help`.
    public static let text = """
        Finds restaurants, with and without a network.

        USAGE: restaurants <command> [options]

        COMMANDS
          refresh                 Load all restaurants from the service.
          list                    List restaurants by name.
              --borough NAME      Only those in this part of the city.
              --cuisine NAME      Only those that cook this.
              --limit N           At most so many; 20 unless said otherwise.
          search WORDS            Find restaurants that have all the words; a word that
                                  ends in * matches every word that begins with it.
          near                    List the restaurants around you, the nearest first.
              --at PLACE          Around this place, such as 51.21,-3.38, and not where you are.
              --limit N           At most so many; 10 unless said otherwise.
          show ID…                Show all about one restaurant or several.
          favourite ID            Make a restaurant your favourite.
          unfavourite ID          End that.
          favourites              List your favourites.
          rate ID STARS           Give a restaurant 1 to 5 stars.
          watch                   Tell what changes, as it changes, whoever changes it.
              --for-events N      End after so many changes.
          pending                 List what the service does not know yet of the signed-in user’s
                                  favourites and ratings.
              --retry ID          Send one of them again.
              --discard ID        Do not tell the service of it.
          login EMAIL             Sign in; asks for the password. (RESTAURANTS_PASSWORD)
          logout                  Sign out.
          whoami                  Tell who is signed in.
          consent yes|no          Decide whether what the app notes of its use may leave this
                                  device; “no” removes it.
          usage                   Tell what became of it.

        OPTIONS
          --storage PLACE         Where restaurants are kept: a file, the address of a keel
                                  server, the URL of a PostgreSQL database, or “memory”.
                                  (RESTAURANTS_STORAGE)
          --mirror URL            A PostgreSQL database that gets all that is written to the
                                  file too, before the app moves there. Only one command at
                                  a time may have it. (RESTAURANTS_MIRROR)
          --api URL               The restaurant service. (RESTAURANTS_API)
          --user NAME             Whose favourites and ratings are meant; the signed-in user’s
                                  unless said otherwise. (RESTAURANTS_USER)
          --log                   Tell on the standard error stream what happens to calls of
                                  the service.
          --secrets FOLDER        Where the tokens of who is signed in are kept, encrypted; the
                                  platform’s store of secrets unless said otherwise.
                                  (RESTAURANTS_SECRETS)
          --telemetry FOLDER      Where the log and the notes of the app’s use are kept.
                                  (RESTAURANTS_TELEMETRY)
          --usage-server URL      A keel server to send these notes to.
          --help                  Show this.

        Exits with 0 when the command was carried out, with 1 when it failed, with 64 when it
        was not understood.
        """
}
