//! `init`: a workspace in an existing repository.
